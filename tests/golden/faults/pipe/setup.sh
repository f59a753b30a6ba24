mkdir -p schema/p && mkfifo schema/p/schema.json
