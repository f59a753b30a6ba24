identity="-c user.name=t -c user.email=t@t -c commit.gpgsign=false"
git init -q -b main whole
git -C whole $identity commit -q --allow-empty -m one
git -C whole branch other
git -C whole $identity commit -q --allow-empty -m two
git -C whole checkout -q other
git -C whole $identity commit -q --allow-empty -m three
git init -q
git fetch -q --depth 1 "file://$PWD/whole" main:main other:other
git symbolic-ref HEAD refs/heads/other
