"""The methods of a protocol.

Input: definitions and a profile. Output: which side handles which method, and the places of its params and result; entries of the
profile that match nothing are reported.
"""
