identity="-c user.name=t -c user.email=t@t -c commit.gpgsign=false"
git init -q -b main
git $identity commit -q --allow-empty -m one
git checkout -q --orphan other
git $identity commit -q --allow-empty -m two
