mkdir -p schema/p && touch schema/p/notes.txt
