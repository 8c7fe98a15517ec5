import type { ContentPart, Fault } from '@holdfast/protocol'
import { useState } from 'react'
import type { DraftFiles } from '../../draft-files/use-draft-files.ts'
import type { DraftText } from '../../text/draft-text.ts'
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
  const [fault, setFault] = useState<Fault | null>(null)
  const isEmpty = draft.text.trim() === '' && !draftFiles.files.some(({ state }) => state.at === 'stored')
  const isUploading = draftFiles.files.some(({ state }) => state.at === 'sending')
  const isOff = isEmpty || isUploading || sending !== null || isLost

  const send = async (as: PromptKind) => {
    if (isOff) return
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
    setFault(refused)
    draft.settle(text, refused === null)
    if (refused === null) draftFiles.remove(files.map(({ id }) => id))
  }
  return { send, sending, fault, isOff, isUploading }
}

/** A prompt is a text, or a text and files. */
function contentOf(text: string, files: readonly ContentPart[]): string | readonly ContentPart[] {
  if (files.length === 0) return text
  return [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...files]
}
