import type { Content } from './content.ts'

/** Joins the text parts by blank lines, without empty ones. */
export const contentText = (content: Content): string =>
  content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n')
