rm -rf out && mkdir out && echo precious > out/precious
