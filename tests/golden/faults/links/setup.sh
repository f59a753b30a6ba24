echo {} > secret.json && ln -s ../../secret.json schema/p/secret.json && ln -s .. schema/p/up && ln -s nothing.json schema/p/dangling.json
