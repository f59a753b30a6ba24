rm -rf out && echo precious > out
