import { parentPort } from 'node:worker_threads'
import type { ExportTask } from './export-thread.ts'
import { formatMessage } from './format-message.ts'
import { redactValue } from './redact.ts'

const port = parentPort
if (port === null) throw new Error('an export runs in a worker')
port.on('message', (task: ExportTask) => {
  if (task.format === null) return port.postMessage(redactValue(task.value))
  const message = task.isRedacted ? redactValue(task.value) : task.value
  port.postMessage(formatMessage(message, task.format))
})
