"""Protocol mode: peers of two revisions exchange messages, method by method. Which exchanges break?"""
