echo mine > out/mine.txt
