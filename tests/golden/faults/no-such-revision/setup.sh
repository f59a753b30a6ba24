git init -q -b main
