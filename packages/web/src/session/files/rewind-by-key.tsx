import { type Message, TurnNumber } from '@holdfast/protocol'
import { useState } from 'react'
import { useKey } from '../../keys/use-key.ts'
import { useLive, useSession, whyHistoryLocked } from '../state/session-context.ts'
import { RewindDialog } from './rewind-dialog.tsx'

type Prompt = Extract<Message, { readonly kind: 'user' }>

const isPrompt = (message: Message): message is Prompt => message.kind === 'user'

/** Returns the turn before the last one, from which a branch can begin; null if there is none. */
export function turnBefore(messages: readonly Pick<Message, 'turn'>[]): number | null {
  const last = messages.at(-1)?.turn
  return messages.findLast(({ turn }) => last !== undefined && turn < last)?.turn ?? null
}

/** Rewinds before the last prompt, or branches from the turn before, when that is chosen in the palette. */
export function RewindByKey() {
  const { asks } = useSession()
  const [prompt, setPrompt] = useState<Prompt | null>(null)
  const hold = useLive(whyHistoryLocked)
  const last = useLive(({ messages }) => messages.findLast(isPrompt) ?? null)
  const before = useLive(({ messages }) => turnBefore(messages))
  useKey('rewind', () => setPrompt(last), hold === null && last !== null)
  useKey(
    'branch',
    () => {
      if (before !== null) void asks.branchAt(TurnNumber.parse(before))
    },
    hold === null && before !== null,
  )
  return prompt && <RewindDialog prompt={prompt} onClose={() => setPrompt(null)} />
}
