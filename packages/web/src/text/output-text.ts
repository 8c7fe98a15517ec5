import { escapeHidden } from '@holdfast/protocol'

// Colours only; other control sequences are escaped.
const colour = /\u001b\[[0-9;]*m/g

/** Prepares program output for display: removes colours, normalizes line ends, escapes hidden characters. */
export const outputText = (text: string): string => escapeHidden(text.replace(colour, '').replaceAll('\r\n', '\n'))
