import { type Answer, BlobHash, type CommandInput, fault, type Result } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { emptyEditor, insert } from '../input/editor.ts'
import { createPastes } from '../input/pastes.ts'
import { recall, send } from './actions.ts'
import type { App } from './app-state.ts'

const blob = BlobHash.parse('a'.repeat(64))
const image = { type: 'file', blob, mediaType: 'image/png', name: 'dot.png', bytes: 70 } as const
const refused = fault('unknown_model', 'There is no such model.')

/** An app whose session answers with `answer`, and the commands that it got. */
function createApp(answer: (command: CommandInput) => Promise<Result<Answer>>) {
  const sent: CommandInput[] = []
  const live = {
    view: { queue: [{ id: 4, queue: 'follow_up' }] },
    presence: [],
    submit(command: CommandInput) {
      sent.push(command)
      return answer(command)
    },
  }
  const app = {
    live,
    editor: emptyEditor,
    pastes: createPastes(),
    completions: null,
    focus: { type: 'prompt' },
    history: { add: () => undefined },
    host: { notice: () => undefined },
    runCommand: () => false,
    redraw: () => undefined,
  } as unknown as App // only what sending and recalling use
  const type = (text: string) => {
    app.editor = insert(app.editor, text)
  }
  return { app, sent, type }
}

it('a recalled prompt has its image again, and sends it', async () => {
  const content = [{ type: 'text', text: 'look' }, image] as const
  const entries = [{ id: 4, queue: 'follow_up', content }]
  const { app, sent } = createApp(async () => ({ ok: true, value: { seq: 5, result: { entries } } as never }))
  await recall(app)
  expect(app.editor.text).toBe('look\n\n[image #1, dot.png]')
  send(app, 'follow_up')
  expect(sent.at(-1)).toEqual({ type: 'queueFollowUp', content })
})

it('a refused prompt comes back, and the pastes made since are not forgotten', async () => {
  const answered = Promise.withResolvers<Result<Answer>>()
  const { app, type } = createApp(() => answered.promise)
  type(`see ${app.pastes.addFile(image)}`)
  send(app, 'steering')
  type(`and ${app.pastes.add('line\n'.repeat(20))}`)
  answered.resolve({ ok: false, fault: refused })
  await answered.promise
  await expect.poll(() => app.editor.text).toBe('see [image #1, dot.png]\n\nand [pasted #2, 20 lines]')
  expect(app.pastes.toContent(app.editor.text)).toEqual([
    { type: 'text', text: `see \n\nand ${'line\n'.repeat(20)}`.trim() },
    image,
  ])
})

it('the numbers of pastes begin again after what they stood for was sent', () => {
  const pastes = createPastes()
  pastes.forget(`send ${pastes.addFile(image)}`)
  expect(pastes.addFile(image)).toBe('[image #1, dot.png]')
})
