import type { Content } from './content.ts'

/** The words of a content, empty parts dropped, joined by a blank line. */
export const contentText = (content: Content): string =>
  content.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : [])).join('\n\n')
