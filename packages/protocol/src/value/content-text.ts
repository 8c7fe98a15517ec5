import type { Content } from './content.ts'

/** Joins the text parts by blank lines, without empty ones. */
export function contentText(content: Content): string {
  const [only] = content
  if (content.length === 1 && only?.type === 'text') return only.text // as almost all are
  return content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n')
}
