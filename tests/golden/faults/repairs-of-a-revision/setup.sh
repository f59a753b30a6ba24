git init --quiet
sed 's/"type": "object",/"type": "object", "required": ["a"],/' schema/p/p.json > changed.json
mv changed.json schema/p/new.json
mv schema/p/p.json old.json
mv schema/p/new.json schema/p/p.json
git add schema
git -c user.name=t -c user.email=t@example.com commit --quiet --message=new
