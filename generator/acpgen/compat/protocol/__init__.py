"""Protocol mode: peers of two revisions exchange messages, method by method. Who breaks?"""
