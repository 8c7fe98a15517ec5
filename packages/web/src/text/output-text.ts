import { escapeHidden } from '@holdfast/protocol'

// Colours only: dropping one never changes what a reader understands. Anything else hidden is spelled out.
const colour = /\u001b\[[0-9;]*m/g

/** What a program printed, ready to be shown: colours dropped, line ends unified, hidden characters spelled out. */
export const outputText = (text: string): string => escapeHidden(text.replace(colour, '').replaceAll('\r\n', '\n'))
