import { type Block, type Cell, type Inline, type Item, parseMarkdown } from '@holdfast/client/markdown'
import type { CallView, Message, Meta } from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { formatCallStatus } from './call-line.ts'

const style = `
:root { color-scheme: light dark; --ink: #1f2328; --dim: #656d76; --edge: #d0d7de; --page: #fff; --shade: #f6f8fa; --you: #0550ae; --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --dim: #8d96a0; --edge: #30363d; --page: #0d1117; --shade: #161b22; --you: #79c0ff; --bad: #ff7b72; }
}
body { margin: 0 auto; max-width: 50rem; padding: 2rem 1rem 4rem; background: var(--page); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: .85rem; margin: 0; color: var(--dim); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 2rem; color: var(--dim); font-size: .85rem; }
dd { margin: 0; overflow-wrap: anywhere; }
article { margin: 1.25rem 0; }
article.aside { margin: .4rem 0; }
article > pre { border: 1px solid var(--edge); border-radius: .4rem; background: var(--shade); padding: .6rem .8rem; }
article.user { border-left: 3px solid var(--you); padding-left: .8rem; }
article.user h2 { color: var(--you); }
article.error h2 { color: var(--bad); }
article.thinking .text, article.note .text { color: var(--dim); }
time { font-weight: 400; margin-left: .5rem; color: var(--dim); font-size: .8rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0; unicode-bidi: plaintext; }
details { border: 1px solid var(--edge); border-radius: .4rem; background: var(--shade); padding: .3rem .7rem; }
summary { cursor: pointer; font-size: .85rem; overflow-wrap: anywhere; }
h3 { font-size: 1.1rem; margin: 1rem 0 .3rem; }
ul, ol { margin: .2rem 0; padding-left: 1.5rem; }
blockquote { margin: .4rem 0; padding-left: .8rem; border-left: 3px solid var(--edge); color: var(--dim); }
table { display: block; overflow-x: auto; border-collapse: collapse; margin: .4rem 0; }
th, td { border: 1px solid var(--edge); padding: .2rem .6rem; text-align: start; vertical-align: top; }
.center { text-align: center; }
.right { text-align: end; }
.text + .text { margin-top: .8rem; }
code { font: .85em ui-monospace, monospace; background: var(--shade); }
a { color: var(--you); }
li > input + .text { display: inline; }
hr { border: 0; border-top: 1px solid var(--edge); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: .8rem/1.5 ui-monospace, monospace; margin: .4rem 0; max-height: 40rem; overflow: auto; unicode-bidi: plaintext; }
@media print { pre { max-height: none; } }
`.trim()

/** The file loads, runs, frames and sends nothing. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/** Returns the start of a transcript as one HTML file. All foreign text is escaped. */
export function head({ id, handle, title, model, workspace, createdAt }: Meta): string {
  const name = line(title) || line(handle)
  const facts = [
    ['Session', `${line(id)} (${line(handle)})`],
    ['Workspace', line(workspace)],
    ['Model', line(model)],
    ['Started', line(createdAt)],
  ]
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${name}</title>`,
    `<style>\n${style}\n</style></head><body>`,
    `<h1>${name}</h1>`,
    `<dl>${facts.map(([what, value]) => `<dt>${what}</dt><dd>${value}</dd>`).join('')}</dl>`,
    '<main>\n',
  ].join('\n')
}

export const tail = '</main></body></html>\n'

/** Returns a message as HTML; empty when there is nothing to read. */
export function message(message: Message): string {
  switch (message.kind) {
    case 'user': {
      const files = message.parts.flatMap((part) =>
        part.type === 'file' ? [paragraph(`File: ${part.name ?? part.mediaType}, ${part.bytes} bytes`)] : [],
      )
      return article('user', 'You', message, [...markdown(message.text), ...files])
    }
    case 'assistant':
      return article('agent', 'Agent', message, [
        ...markdown(message.text),
        message.interrupted ? paragraph('(interrupted)') : '',
      ])
    case 'thinking':
      return aside('thinking', folded('Thinking', message, [paragraph(message.text)]))
    case 'tool_call':
      return aside('tool', callHtml(message.call, message))
    case 'system':
    case 'notice': {
      const isError = message.level === 'error'
      return article(isError ? 'error' : 'note', isError ? 'Error' : 'Note', message, [paragraph(message.text)])
    }
    case 'usage':
      return message.fault ? article('error', 'Error', message, [paragraph(message.fault.message)]) : ''
  }
}

function callHtml(call: CallView, message: Message): string {
  const result = call.result === null || call.result.text === '' ? [] : [pre(call.result.text)]
  const head = `${call.tool} ${JSON.stringify(call.args)}`
  return folded(`${short(head)} · ${formatCallStatus(call)}`, message, [
    pre(JSON.stringify(call.args, null, 2)),
    ...result,
  ])
}

const summaryCharsMax = 120
const short = (text: string): string => {
  const chars = [...text]
  return chars.length <= summaryCharsMax ? text : `${chars.slice(0, summaryCharsMax).join('')}…`
}

const folded = (summary: string, message: Message, inside: readonly string[]): string =>
  `<details><summary>${line(summary)}${time(message)}</summary>${inside.join('')}</details>`

function article(kind: string, who: string, message: Message, blocks: readonly string[]): string {
  return `<article class="${kind}"><h2>${line(who)}${time(message)}</h2>${blocks.join('')}</article>\n`
}

/** Wraps a collapsed part; its summary is its heading. */
const aside = (kind: string, fold: string): string => `<article class="${kind} aside">${fold}</article>\n`

/** Shows the time to the second; the exact time is in the attribute. */
const time = ({ at }: Message): string =>
  `<time datetime="${line(at)}">${line(at.slice(0, 19).replace('T', ' '))}</time>`

/** Draws markdown with the parser of the page. Every text in it is escaped. */
const markdown = (text: string): readonly string[] => parseMarkdown(text.toWellFormed()).map(blockHtml)

function blockHtml(block: Block): string {
  switch (block.type) {
    case 'paragraph':
      return `<div class="text">${inlineHtml(block.inner)}</div>`
    case 'heading':
      return `<h3>${inlineHtml(block.inner)}</h3>`
    case 'code':
      return pre(block.text)
    case 'list': {
      const items = block.items.map(itemHtml).join('')
      return block.start === null ? `<ul>${items}</ul>` : `<ol start="${block.start}">${items}</ol>`
    }
    case 'quote':
      return `<blockquote>${block.blocks.map(blockHtml).join('')}</blockquote>`
    case 'table':
      return `<table>${rowHtml('th', block.head)}${block.rows.map((row) => rowHtml('td', row)).join('')}</table>`
    case 'math':
      return pre(block.tex)
    case 'footnotes': {
      const notes = block.notes.map(({ blocks }) => `<li>${blocks.map(blockHtml).join('')}</li>`).join('')
      return `<hr><ol>${notes}</ol>`
    }
    case 'rule':
      return '<hr>'
  }
}

const itemHtml = ({ checked, blocks }: Item): string =>
  `<li>${checked === null ? '' : `<input type="checkbox" disabled${checked ? ' checked' : ''}> `}${blocks.map(blockHtml).join('')}</li>`

const rowHtml = (tag: 'th' | 'td', cells: readonly Cell[]): string =>
  `<tr>${cells.map(({ align, inner }) => `<${tag} class="${align ?? ''}">${inlineHtml(inner)}</${tag}>`).join('')}</tr>`

const inlineTags = { strong: 'strong', emphasis: 'em', struck: 's' } as const

const inlineHtml = (inlines: readonly Inline[]): string => inlines.map(oneInlineHtml).join('')

function oneInlineHtml(inline: Inline): string {
  switch (inline.type) {
    case 'text':
      return shown(inline.text)
    case 'code':
      return `<code>${shown(inline.text)}</code>`
    case 'math':
      return `<code>${shown(inline.tex)}</code>`
    case 'footnote':
      return `<sup>${inline.number}</sup>`
    case 'image': // the file loads nothing
      return inline.href.startsWith('data:')
        ? shown(inline.text)
        : linkHtml(inline.href, shown(inline.text || inline.href))
    case 'link':
      return linkHtml(inline.href, inlineHtml(inline.inner))
    default: {
      const tag = inlineTags[inline.type]
      return `<${tag}>${inlineHtml(inline.inner)}</${tag}>`
    }
  }
}

const linkHtml = (href: string, inner: string): string =>
  `<a href="${inert(href)}" rel="noopener noreferrer nofollow">${inner}</a>`

const paragraph = (text: string): string => (text === '' ? '' : `<div class="text">${shown(text)}</div>`)
const pre = (text: string): string => `<pre>${shown(text)}</pre>`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}
const inert = (text: string): string => text.replace(/[&<>"'`]/g, (char) => entities[char] ?? char)

/** Escapes text. Invisible characters are made visible, except joiners, which many scripts need. */
const shown = (text: string): string =>
  inert(
    text
      .replaceAll('\r\n', '\n')
      .toWellFormed()
      .split(/([\u200c\u200d])/u)
      .map((piece, index) => (index % 2 === 1 ? piece : escapeHidden(piece)))
      .join(''),
  )

const line = (text: string): string => inert(escapeLine(text.toWellFormed()))
