import { parentPort } from 'node:worker_threads'
import { redactValue } from './redact.ts'

const port = parentPort
if (port === null) throw new Error('redaction runs in a worker')
port.on('message', (value: unknown) => port.postMessage(redactValue(value)))
