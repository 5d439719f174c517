"""A service of one's own behind HTTP, for the target `http`: `python3 suites/service.py 9000`.

It prints its address when it listens. Port 0 takes any free one.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = asked["question"].rstrip("?").split()
        said = {"result": {"text": f"{len(words)} words", "tokens": len(words)}, "error": None}
        if not words:
            said = {"result": None, "error": "there is no question"}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Service)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
