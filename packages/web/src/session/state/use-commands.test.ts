import type { LiveView } from '@holdfast/client'
import { type CommandInput, type Fault, fault, type Message, MessageId, ok, refuse } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createPageCommands } from './use-commands.ts'

const file = { type: 'file', hash: 'h', mediaType: 'text/plain', bytes: 3, name: 'a.txt' } as const
// Only the fields that are read.
const prompt = {
  id: MessageId.parse(9),
  parent: MessageId.parse(8),
  turn: 1,
  text: 'old',
  parts: [file],
} as unknown as Extract<Message, { readonly kind: 'user' }>

/** The commands of a session that refuses some types of commands. */
function refusing(refused: { readonly [type: string]: Fault }) {
  const sent: { readonly command: CommandInput; readonly id: string | undefined }[] = []
  const faults: (Fault | null)[] = []
  const taken: unknown[] = []
  const live = {
    client: 'me',
    presence: [],
    connection: { state: 'open' },
    submit: async (command: CommandInput, options?: { readonly commandId?: string }) => {
      sent.push({ command, id: options?.commandId })
      const why = refused[command.type]
      return why ? refuse(why) : ok({ seq: 1, result: {} })
    },
  }
  // The part of a view that commands use.
  const commands = createPageCommands(live as unknown as LiveView, (one) => faults.push(one))
  const takeBack = (text: string, files: readonly unknown[]) => void taken.push({ text, files })
  return { ...commands, sent, faults, taken, takeBack }
}

describe('a prompt that is edited and sent again', () => {
  it('goes back into the input with its files if the history was rewound and the prompt was refused', async () => {
    const why = fault('workdir_needed', 'This session has no folder.')
    const { resend, taken, takeBack, sent, faults } = refusing({ sendPrompt: why })
    expect(await resend(prompt, 'new', takeBack)).toBeNull()
    expect(sent.map(({ command }) => command.type)).toEqual(['rewind', 'sendPrompt'])
    expect(taken).toEqual([{ text: 'new', files: [file] }])
    expect(faults.at(-1)).toEqual(why)
  })

  it('stays in its form if the history was not rewound', async () => {
    const why = fault('turn_active', 'A turn is running.')
    const { resend, taken, takeBack, sent } = refusing({ rewind: why })
    expect(await resend(prompt, 'new', takeBack)).toEqual(why)
    expect(sent).toHaveLength(1)
    expect(taken).toEqual([])
  })

  it('goes back into the input if nobody knows whether the history was rewound', async () => {
    const { resend, taken, takeBack } = refusing({ rewind: fault('unreachable', 'The server does not respond.') })
    expect(await resend(prompt, 'new', takeBack)).toBeNull()
    expect(taken).toEqual([{ text: 'new', files: [file] }])
  })

  it('is sent with the same command id from the input, after its answer was lost', async () => {
    const lost = { sendPrompt: fault('unreachable', 'The server does not respond.') }
    const { resend, send, takeBack, sent } = refusing(lost)
    await resend(prompt, 'new', takeBack)
    await send([{ type: 'text', text: 'new' }, file as never], 'sendPrompt')
    const [, first, second] = sent
    expect(first?.id).toBe(second?.id)
  })
})

describe('who follows what a person sends', () => {
  it('hears of a prompt, and of one that is sent again, before they are answered', async () => {
    const { send, resend, followSends, takeBack, sent } = refusing({})
    const heard: number[] = []
    const stop = followSends(() => heard.push(sent.length))
    await send('hello', 'sendPrompt')
    await resend(prompt, 'new', takeBack)
    expect(heard).toEqual([0, 2]) // 2: after the history was rewound, when the rows are those of the new line
    stop()
    await send('again', 'queueFollowUp')
    expect(heard).toHaveLength(2)
  })
})
