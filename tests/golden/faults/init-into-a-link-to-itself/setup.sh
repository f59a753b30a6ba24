ln -s loop loop
