/** A run of text within a block. */
export type Inline =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'struck'; readonly inner: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly inner: readonly Inline[] }

// Looking for a closing mark costs up to the rest of the text for each opening one. Beyond this length text stays plain.
const inlineCharsMax = 20_000
const nestingMax = 5

const special = /[\\`*_~[]|https?:\/\//g
const bareUrl = /https?:\/\/[^\s<>"'`|]+/y
const marks = [
  { mark: '**', type: 'strong' },
  { mark: '__', type: 'strong' },
  { mark: '~~', type: 'struck' },
  { mark: '*', type: 'emphasis' },
  { mark: '_', type: 'emphasis' },
] as const

type Found = { readonly inline: Inline; readonly next: number }

export function parseInline(text: string, depth = 0): readonly Inline[] {
  if (text.length > inlineCharsMax || depth >= nestingMax) return [{ type: 'text', text }]
  const found: Inline[] = []
  let plain = ''
  let at = 0
  const push = (inline: Inline) => {
    if (plain !== '') found.push({ type: 'text', text: plain })
    plain = ''
    found.push(inline)
  }
  while (at < text.length) {
    special.lastIndex = at
    const next = special.exec(text)?.index ?? text.length
    plain += text.slice(at, next)
    at = next
    if (at >= text.length) break
    const here = takeInline(text, at, depth)
    if (here) {
      push(here.inline)
      at = here.next
    } else if (text[at] === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1]
      at += 2
    } else {
      plain += text[at]
      at++
    }
  }
  if (plain !== '') found.push({ type: 'text', text: plain })
  return found
}

function takeInline(text: string, at: number, depth: number): Found | null {
  switch (text[at]) {
    case '`':
      return takeCode(text, at)
    case '[':
      return takeLink(text, at, depth)
    case 'h':
      return takeBareUrl(text, at)
    case '\\':
      return null
    default:
      return takeMarked(text, at, depth)
  }
}

function takeCode(text: string, at: number): Found | null {
  let open = at
  while (text[open] === '`') open++
  const mark = text.slice(at, open)
  const close = text.indexOf(mark, open)
  if (close < 0) return null
  const inner = text.slice(open, close)
  const code = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '' ? inner.slice(1, -1) : inner
  return { inline: { type: 'code', text: code }, next: close + mark.length }
}

function takeLink(text: string, at: number, depth: number): Found | null {
  const middle = text.indexOf('](', at)
  const close = middle < 0 ? -1 : closingBracket(text, middle + 2)
  if (close < 0) return null
  const label = text.slice(at + 1, middle)
  const href = safeHref(
    text
      .slice(middle + 2, close)
      .trim()
      .split(/\s/, 1)[0] ?? '',
  )
  if (href === null || label === '' || label.includes('\n\n')) return null
  return { inline: { type: 'link', href, inner: parseInline(label, depth + 1) }, next: close + 1 }
}

function closingBracket(text: string, from: number): number {
  let open = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '(') open++
    else if (char === '\n') return -1
    else if (char === ')' && open-- === 0) return at
  }
  return -1
}

function takeBareUrl(text: string, at: number): Found | null {
  bareUrl.lastIndex = at
  const whole = bareUrl.exec(text)?.[0]
  if (whole === undefined) return null
  const url = trimUrl(whole)
  const href = safeHref(url)
  if (href === null) return null
  return { inline: { type: 'link', href, inner: [{ type: 'text', text: url }] }, next: at + url.length }
}

/** The full stop after an address, and a bracket it did not open, belong to the sentence. */
function trimUrl(url: string): string {
  const bare = url.replace(/[.,;:!?*_~]+$/, '')
  return bare.endsWith(')') && !bare.includes('(') ? trimUrl(bare.slice(0, -1)) : bare
}

/** Only addresses a browser fetches as pages: no script, no data, nothing relative to this page. */
export function safeHref(href: string): string | null {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) return null
  return new URL(href).href
}

function takeMarked(text: string, at: number, depth: number): Found | null {
  for (const { mark, type } of marks) {
    if (!text.startsWith(mark, at)) continue
    const open = at + mark.length
    if (/\s/.test(text[open] ?? ' ')) continue
    if (mark.startsWith('_') && /[\p{L}\p{N}]/u.test(text[at - 1] ?? '')) continue // snake_case is no emphasis
    const close = closingMark(text, open, mark)
    if (close < 0) continue
    return { inline: { type, inner: parseInline(text.slice(open, close), depth + 1) }, next: close + mark.length }
  }
  return null
}

function closingMark(text: string, from: number, mark: string): number {
  for (let at = text.indexOf(mark, from + 1); at >= 0; at = text.indexOf(mark, at + 1)) {
    const char = mark.charAt(0)
    const isPartOfLonger = mark.length === 1 && (text[at + 1] === char || text[at - 1] === char)
    const isInsideWord = char === '_' && /[\p{L}\p{N}]/u.test(text[at + mark.length] ?? '')
    if (isPartOfLonger || isInsideWord || /[\s\\]/.test(text[at - 1] ?? '')) continue
    return mark.length === 2 && text[at + 2] === char ? at + 1 : at // of `***` the inner run takes the first
  }
  return -1
}
