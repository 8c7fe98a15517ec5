import { type Content, fault } from '@holdfast/protocol'

/** Whether a prompt says nothing and brings no file. */
export const isEmpty = (content: Content): boolean =>
  !content.some((part) => part.type === 'file' || part.text.trim() !== '')

export const emptyPrompt = fault('empty_prompt', 'The prompt is empty. Write something, or attach a file.')
