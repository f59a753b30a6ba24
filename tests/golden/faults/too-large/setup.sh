mkdir -p schema/p && truncate -s 17M schema/p/schema.json
