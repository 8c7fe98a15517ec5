import { createRequire } from 'node:module'
import { parentPort } from 'node:worker_threads'
import TurndownService from 'turndown'

/** Sent twice for each page: first its plain text, then its Markdown, unless it cannot be converted. */
export type HtmlAnswer = { readonly type: 'text' | 'markdown' | 'none'; readonly text: string }

/** The converter calls itself for each level. */
const depthMax = 400
const voidTags = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|td|tr|th|dt|dd|option)$/

// The plugin has no types and no ES module.
const { gfm } = createRequire(import.meta.url)('@joplin/turndown-plugin-gfm') as { gfm: TurndownService.Plugin }

function toMarkdown(html: string): string {
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  service.use(gfm)
  service.remove(['script', 'style', 'noscript', 'iframe', 'template', 'head'] as never) // `template` is missing in its types
  return service.turndown(html)
}

type Tag = { readonly name: string; readonly isEnd: boolean; readonly from: number; readonly to: number }

/** Finds the tags of a page in one pass. What `script` and `style` contain is skipped. */
function* tagsOf(html: string): Generator<Tag> {
  let at = html.indexOf('<')
  while (at >= 0) {
    const end = html.indexOf('>', at)
    if (end < 0) return
    const [, slash = '', name = ''] = /^<(\/?)([a-zA-Z][a-zA-Z0-9-]{0,20})/.exec(html.slice(at, at + 24)) ?? []
    if (name === '') {
      at = html.indexOf('<', at + 1)
      continue
    }
    const tag = name.toLowerCase()
    let to = end + 1
    if (slash === '' && (tag === 'script' || tag === 'style')) {
      const close = html.indexOf(`</${name}`, to)
      to = close < 0 ? html.length : close
    }
    yield { name: tag, isEnd: slash !== '', from: at, to }
    at = html.indexOf('<', to)
  }
}

function readPage(html: string): { readonly text: string; readonly depth: number } {
  const pieces: string[] = []
  let [last, depth, deepest] = [0, 0, 0]
  for (const { name, isEnd, from, to } of tagsOf(html)) {
    pieces.push(html.slice(last, from), /^(?:p|div|br|li|tr|h[1-6]|pre|section)$/.test(name) ? '\n' : ' ')
    last = to
    if (voidTags.test(name)) continue
    depth = Math.max(0, depth + (isEnd ? -1 : 1))
    deepest = Math.max(deepest, depth)
  }
  pieces.push(html.slice(last))
  const text = pieces
    .join('')
    .replaceAll(/[ \t\r\f]+/g, ' ')
    .replaceAll(/\n ?(?:\n ?)+/g, '\n\n')
  return { text: text.trim(), depth: deepest }
}

parentPort?.on('message', (html: string) => {
  const { text, depth } = readPage(html)
  parentPort?.postMessage({ type: 'text', text } satisfies HtmlAnswer)
  let answer: HtmlAnswer = { type: 'none', text: '' }
  try {
    if (depth <= depthMax) answer = { type: 'markdown', text: toMarkdown(html) }
  } catch {
    // A page that the converter cannot handle is shown as plain text.
  }
  parentPort?.postMessage(answer)
})
