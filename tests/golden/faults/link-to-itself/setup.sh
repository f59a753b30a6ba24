ln -s loop.json loop.json
