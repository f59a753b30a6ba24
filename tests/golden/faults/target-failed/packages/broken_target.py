def render(protocol, bundle, settings):
    return {"table.txt": bundle.definitions["Nothing"]}
