import { escapeHiddenInJson } from '@holdfast/protocol/hostile-text'

/** JSON that is harmless on a terminal and loses nothing: what is hidden stands as its escape. */
export const toJsonText = (value: unknown): string => escapeHiddenInJson(JSON.stringify(value))
