import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelName } from '@holdfast/protocol'
import { aPdf, aPng, type HistoryProvider, strictServices } from '@holdfast/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHoldfast } from './open.ts'
import { findHome } from './system/home.ts'

const image = aPng(20, 30)
const image64 = Buffer.from(image).toString('base64')
const types = ['image/png', 'application/pdf']
const pdf64 = Buffer.from(aPdf).toString('base64')

/** Runs a turn that reads an image and a PDF file, whose names say nothing. Returns the request with their results. */
async function readBoth(service: HistoryProvider, model: ModelName, name: string, takes: readonly string[] = types) {
  await using opened = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'hf-image-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const server = await strictServices[service].start()
  opened.defer(() => server.close())
  await writeFile(join(home, 'shot.txt'), image)
  await writeFile(join(home, 'paper'), aPdf)
  const environment = {
    HOLDFAST_HOME: join(home, 'store'),
    HOLDFAST_LOCAL_MODELS: 'off',
    [`${name}_API_KEY`]: 'key',
    [`${name}_BASE_URL`]: server.url,
  }
  const { configDir } = findHome(environment)
  await mkdir(configDir, { recursive: true })
  await writeFile(join(configDir, 'config.json'), JSON.stringify({ models: { [model]: { takes } } }))
  const holdfast = await openHoldfast({ environment, model })
  opened.defer(() => holdfast.close())
  const read = (path: string) => ({ type: 'call', tool: 'read_file', args: { path }, opaque: 'sig' }) as const
  server.answer(
    { type: 'message', content: [read('shot.txt'), read('paper')] },
    { type: 'message', content: [{ type: 'say', text: 'I see.' }] },
  )
  const session = await holdfast.startSession({ workdir: home })
  await session.prompt('look').result()
  expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null])
  const parts = opened.move()
  onTestFinished(() => parts.disposeAsync())
  return { holdfast, session, sent: JSON.stringify(server.requests[1]?.body) }
}

const services: readonly (readonly [HistoryProvider, ModelName, string, RegExp])[] = [
  ['anthropic', 'anthropic/claude-sonnet-4-5', 'ANTHROPIC', /"tool_result".*"type":"image".*"type":"document"/],
  ['openai-responses', 'openai/gpt-5', 'OPENAI', /"function_call_output".*"input_image".*"input_file"/],
  ['openai-chat', 'openai-chat/gpt-4.1', 'OPENAI', /"role":"tool".*"role":"user".*"image_url".*"type":"file"/],
  ['openai-chat', 'mistral/pixtral', 'MISTRAL', /"role":"tool".*"Noted\.".*"role":"user".*"image_url"/],
  ['gemini', 'google/gemini-2.5-flash', 'GEMINI', /"functionResponse".*"inlineData".*"inlineData"/],
]

describe('an image and a PDF file that a tool has read', () => {
  it.each(services)('reach %s, %s', async (service, model, name, place) => {
    const { sent } = await readBoth(service, model, name)
    expect(sent).toContain(image64)
    expect(sent).toContain(pdf64)
    expect(sent).toMatch(place)
  })

  it('are named for a model that does not take them', async () => {
    const { sent } = await readBoth('anthropic', 'anthropic/claude-sonnet-4-5', 'ANTHROPIC', [])
    expect(sent).not.toContain(image64)
    expect(sent).toContain(`[shot.txt: image/png, ${image.length} bytes]`)
    expect(sent).toContain('[image shot.txt: this model takes no images]')
    expect(sent).toContain('[file paper: this model takes no PDF files]')
  })

  it('are part of the result in the transcript, in exports and after an import', async () => {
    const { holdfast, session } = await readBoth('anthropic', 'anthropic/claude-sonnet-4-5', 'ANTHROPIC')
    const resultsOf = async ({ messages }: typeof session) =>
      (await messages()).flatMap((message) => (message.kind === 'tool_call' ? [message.call.result] : []))
    const results = await resultsOf(session)
    expect(results).toMatchObject([
      { text: expect.stringContaining('image/png'), fileParts: [{ mediaType: 'image/png', name: 'shot.txt' }] },
      { text: expect.stringContaining('application/pdf'), fileParts: [{ bytes: aPdf.length, name: 'paper' }] },
    ])
    const [file] = results[0]?.fileParts ?? []
    expect(Buffer.concat(await Array.fromAsync(await session.blob(file?.blob ?? expect.fail())))).toEqual(image)
    expect(await holdfast.exportMarkdown(session.id)).toContain(`[shot.txt: image/png, ${image.length} bytes]`)

    const lines = (await Array.fromAsync(holdfast.export(session.id, { format: 'jsonl' }))).join('')
    await holdfast.purge(session.id)
    const [imported] = await holdfast.import({ name: 'copy.jsonl', bytes: Buffer.from(lines) })
    const copy = await holdfast.getSession(imported?.session ?? expect.fail())
    expect(await resultsOf(copy)).toEqual(results)
    expect(Buffer.concat(await Array.fromAsync(await copy.blob(file?.blob ?? expect.fail())))).toEqual(image)
  })
  it('are reported by the demo model, and refused if they are damaged', async () => {
    await using opened = new AsyncDisposableStack()
    const home = await mkdtemp(join(tmpdir(), 'hf-image-'))
    opened.defer(() => rm(home, { recursive: true, force: true }))
    await writeFile(join(home, 'shot.png'), image)
    await writeFile(join(home, 'cut.png'), image.subarray(0, 20))
    await writeFile(join(home, 'program.png'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]))
    const environment = { HOLDFAST_HOME: join(home, 'store'), DEMO_PACE: '0' }
    const holdfast = await openHoldfast({ environment, model: 'demo/agent', store: 'memory:' })
    opened.defer(() => holdfast.close())
    const session = await holdfast.startSession({ workdir: home })
    const text = await session.prompt('read shot.png\nread cut.png\nread program.png').text()
    expect(text).toContain(`With it I received shot.png: image/png, ${image.length} bytes.`)
    expect(text).toContain('The file cut.png starts like image/png but is damaged or incomplete.')
    expect(text).toContain('program.png is binary (6 bytes) and is not shown. The file program.png has a type that no')
  })
})
