from acpgen.plugins import refuse


def render(protocol, bundle, settings):
    raise refuse(protocol, "picky", "it has no methods. Bind some by a profile", protocol.definitions["Thing"].at)
