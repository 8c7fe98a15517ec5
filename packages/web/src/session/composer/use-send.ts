import { type ContentPart, type Fault, fault, limits } from '@holdfast/protocol'
import { useState } from 'react'
import type { DraftFiles } from '../../draft-files/use-draft-files.ts'
import type { DraftText } from '../../text/draft-text.ts'
import { bytesText } from '../../text/format.ts'
import type { Commands, PromptKind } from '../state/use-commands.ts'

type SendDeps = {
  readonly draft: DraftText
  readonly draftFiles: DraftFiles
  readonly commands: Pick<Commands, 'send'>
  readonly isLost: boolean
}

/** Sends what is in the input box. The box is free at once for the next text; a refused one comes back, with the reason. */
export function useSend({ draft, draftFiles, commands, isLost }: SendDeps) {
  /** The text on its way; null when there is none. */
  const [sending, setSending] = useState<string | null>(null)
  const [refusal, setRefusal] = useState<Fault | null>(null)
  const isEmpty = draft.text.trim() === '' && !draftFiles.files.some(({ state }) => state.at === 'stored')
  const isUploading = draftFiles.files.some(({ state }) => state.at === 'sending')
  const isOff = isEmpty || isUploading || sending !== null || isLost

  const send = async (as: PromptKind) => {
    if (isOff) return
    const tooLong = findTooLong(draft.current())
    if (tooLong !== null) return setRefusal(tooLong)
    const files = draftFiles.stored()
    const text = draft.take()
    setSending(text)
    const refused = await commands.send(
      contentOf(
        text,
        files.map(({ part }) => part),
      ),
      as,
    )
    setSending(null)
    setRefusal(refused)
    draft.settle(text, refused === null)
    if (refused === null) draftFiles.remove(files.map(({ id }) => id))
  }
  return { send, sending, fault: refusal, isOff, isUploading }
}

/** Returns a fault for a text that the server would not take. */
export function findTooLong(text: string): Fault | null {
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= limits.promptBytesMax) return null
  const [has, max] = [bytes, limits.promptBytesMax].map(bytesText)
  return fault('bad_request', `This message has ${has}. A message has at most ${max}: attach a longer text as a file.`)
}

/** A prompt is a text, or a text and files. */
function contentOf(text: string, files: readonly ContentPart[]): string | readonly ContentPart[] {
  if (files.length === 0) return text
  return [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...files]
}
