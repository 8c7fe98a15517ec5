import { parentPort } from 'node:worker_threads'
import type { ExportedPiece, ExportTask } from './export-thread.ts'
import { formatMessage } from './format-message.ts'
import { cutPieces } from './pieces.ts'
import { recordLine } from './record-line.ts'
import { redactValue } from './redact.ts'

const port = parentPort
if (port === null) throw new Error('an export runs in a worker')

function write(task: ExportTask): string {
  switch (task.type) {
    case 'value':
      return JSON.stringify(redactValue(task.value))
    case 'message':
      return formatMessage(task.isRedacted ? redactValue(task.message) : task.message, task.format)
    case 'line': {
      const { record, session } = task
      return recordLine('lost' in record ? record : { ...record, event: redactValue(record.event) }, session)
    }
  }
}

let pieces: Generator<string> = cutPieces('')
let next = pieces.next()

port.on('message', (asked: ExportTask | 'next') => {
  if (asked !== 'next') {
    pieces = cutPieces(write(asked))
    next = pieces.next()
  }
  const piece = next.value ?? ''
  next = pieces.next()
  port.postMessage({ piece, isLast: next.done === true } satisfies ExportedPiece)
})
