import { escapeLine } from '@holdfast/protocol'

/** A passage as one line of a list: its breaks are spaces, what cannot be seen is spelled out. */
export const oneLine = (text: string): string => escapeLine(text.replaceAll(/\s+/g, ' ').trim())
