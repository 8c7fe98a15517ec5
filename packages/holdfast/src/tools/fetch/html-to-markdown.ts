import { findScript, startThread } from '../../system/start-thread.ts'
import type { HtmlAnswer } from './html-worker.ts'

/** Pages are converted in a tenth of this; hostile ones would take for ever. */
const timeMsMax = 3000
const heapMb = 256

const script = findScript('./html-worker', import.meta.url)

/** Converts a page to Markdown on its own thread. Returns its plain text if that takes too long, or null at an abort. */
export async function htmlToMarkdown(html: string, signal: AbortSignal): Promise<string | null> {
  const worker = startThread(script, { heapMb })
  const { promise, resolve } = Promise.withResolvers<string | null>()
  let plain = ''
  const usePlain = () => resolve(plain)
  const abort = () => resolve(null)
  worker.on('message', ({ type, text }: HtmlAnswer) => {
    if (type === 'text') plain = text
    else resolve(type === 'markdown' && text.trim() !== '' ? text : plain)
  })
  worker.on('error', usePlain).on('exit', usePlain)
  const timer = setTimeout(usePlain, timeMsMax)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  worker.postMessage(html)
  const text = await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', abort)
  void worker.terminate()
  return text
}
