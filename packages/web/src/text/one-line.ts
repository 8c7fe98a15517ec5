import { escapeLine } from '@holdfast/protocol'

/** Returns text as one line: line breaks become spaces, hidden characters are escaped. */
export const oneLine = (text: string): string => escapeLine(text.replaceAll(/\s+/g, ' ').trim())
