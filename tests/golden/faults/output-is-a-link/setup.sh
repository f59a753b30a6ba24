mv out elsewhere && ln -s elsewhere out
