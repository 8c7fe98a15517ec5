import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createSession } from '@holdfast/client'
import { escapeHidden, type SessionHandle, SessionId } from '@holdfast/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awkwardStrings, unpaired } from '../hostile/strings/awkward-strings.ts'
import { openBrowser } from './browser.ts'
import { bin, type ServerProcess, startServerProcess } from './server-process.ts'

/** `STRINGS=<file>` uses the list of texts in a JSON file instead. */
const file = process.env['STRINGS']
const list: readonly string[] = file === undefined ? awkwardStrings : JSON.parse(await readFile(file, 'utf8'))
/** An empty message cannot be sent. */
const strings = [...new Set(list)].filter((text) => text.trim() !== '')
const perCommand = 400

/** Starts a session in which the user says each string, and the model too. */
async function seedStrings(server: ServerProcess, workdir: string): Promise<SessionHandle> {
  const started = await server.sessions.start({ workdir, model: 'demo/agent' })
  if (!started.ok) throw new Error(started.fault.message)
  const messages = strings.flatMap((content) => [
    { role: 'user' as const, content },
    { role: 'assistant' as const, content },
  ])
  for (let at = 0; at < messages.length; at += perCommand) {
    const seeded = await started.value.submit({ type: 'seedMessages', messages: messages.slice(at, at + perCommand) })
    if (!seeded.ok) throw new Error(seeded.fault.message)
  }
  return started.value
}

async function readTexts(handle: SessionHandle, kind: 'user' | 'assistant'): Promise<readonly string[]> {
  const messages = await createSession(handle).messages()
  return messages.flatMap((one) => (one.kind === kind ? [one.text] : []))
}

let root = ''
let home = ''
let server: ServerProcess
let handle: SessionHandle
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-strings-'))
  home = join(root, 'home')
  server = await startServerProcess({ home })
  handle = await seedStrings(server, root)
})
afterAll(async () => {
  await server.kill()
  await rm(root, { recursive: true, force: true })
})

describe('awkward strings in a store', () => {
  it.each(['sqlite', 'jsonl'])('of %s are intact after a power cut', async (kind) => {
    const options = { home: join(root, kind), args: kind === 'jsonl' ? ['--store', `jsonl:${join(root, 'logs')}`] : [] }
    const first = await startServerProcess(options)
    const { id } = await seedStrings(first, root)
    await first.kill()
    const second = await startServerProcess(options)
    try {
      const opened = await second.sessions.open(SessionId.parse(id))
      if (!opened.ok) throw new Error(opened.fault.message)
      expect(await readTexts(opened.value, 'user')).toEqual(strings)
      expect(await readTexts(opened.value, 'assistant')).toEqual(strings)
    } finally {
      await second.kill()
    }
  })

  it('never contain an unpaired surrogate: a server refuses it', async () => {
    const before = await readTexts(handle, 'user')
    for (const text of unpaired) {
      const body = JSON.stringify({ type: 'sendPrompt', content: text })
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
      const answer = await fetch(`${server.url}/v1/sessions/${handle.id}/commands`, { method: 'POST', headers, body })
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('unpaired surrogate')])
    }
    expect(await readTexts(handle, 'user')).toEqual(before)
  })
})

it('awkward strings are intact in a stream of events, one frame each', async () => {
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${server.token}` }
  const snapshot = await handle.snapshot()
  if (!snapshot.ok) throw new Error(snapshot.fault.message)
  const response = await fetch(`${server.url}/v1/sessions/${handle.id}/events?after=0`, {
    headers,
    signal: leaving.signal,
  })
  const said = new Set<string>()
  let buffered = ''
  let seq = 0
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    buffered += decoder.decode(chunk, { stream: true })
    const frames = buffered.split('\n\n')
    buffered = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
      if (data.length === 0) continue
      expect(data).toHaveLength(1)
      JSON.parse(data[0] ?? '', (_, value) => (typeof value === 'string' ? said.add(value) && value : value))
      seq = Number(/^id: .*?(\d+)$/m.exec(frame)?.[1] ?? seq)
    }
    if (seq >= snapshot.value.seq) break
  }
  leaving.abort()
  expect(strings.filter((text) => !said.has(text))).toEqual([])
})

/** Returns a new login link: each works once, and this test may be tried again. */
async function loginLink(): Promise<string> {
  const headers = { authorization: `Bearer ${server.token}` }
  const answer = await fetch(`${server.url}/v1/login-links`, { method: 'POST', headers })
  return ((await answer.json()) as { readonly link: string }).link // as the server sends it
}

describe('awkward strings in a browser', () => {
  it('are shown as they are on the page, which runs nothing and asks only its own server', async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      page.setDefaultTimeout(120_000)
      const [problems, asked]: [string[], string[]] = [[], []]
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
      page.on('dialog', (dialog) => problems.push(`dialog ${dialog.message()}`))
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(await loginLink())
      // An address that names another server changes nothing.
      const other = 'http://127.0.0.1:9'
      await page.goto(`${server.url}/?gatewayUrl=${other}&server=${other}&url=${other}&token=x#/s/${handle.id}`)
      const transcript = page.getByRole('log', { name: 'Transcript' })
      await transcript.waitFor()
      // The page draws only the rows near the visible ones, so the transcript is read while it scrolls to its top.
      const seen = {
        users: new Map<string, string>(),
        assistants: new Set<string>(),
        built: new Set<string>(),
        addresses: new Set<string>(),
      }
      const look = async () => {
        const shown = await page.evaluate<Shown>(lookAtTranscript)
        await page.mouse.wheel(0, -450) // less than a screen; only a gesture leaves the end that the page follows
        for (const [id, text] of shown.users) seen.users.set(id, text)
        for (const id of shown.assistants) seen.assistants.add(id)
        for (const address of shown.addresses) seen.addresses.add(address)
        for (const element of shown.built) seen.built.add(element)
        return [seen.users.size, seen.assistants.size]
      }
      await page.mouse.move(640, 300)
      await expect.poll(look, { interval: 10 }).toEqual([strings.length, strings.length])
      const number = (id: string) => Number(id.split('-').at(-1))
      const inOrder = [...seen.users].toSorted(([one], [other]) => number(one) - number(other))
      expect(inOrder.map(([, text]) => text)).toEqual(strings)
      expect(await page.evaluate(() => [Reflect.get(globalThis, 'hit'), Reflect.get(globalThis, 'XSS')])).toEqual([
        undefined,
        undefined,
      ])
      expect([...seen.built]).toEqual([])
      expect([...seen.addresses].filter((href) => !/^(https?:|mailto:|#)/.test(href))).toEqual([])
      expect(problems).toEqual([])
      expect(asked.filter((url) => !url.startsWith(server.url) && !/^(data|blob):/.test(url))).toEqual([])
    } finally {
      await browser.close()
    }
  })

  it('are shown in an exported page, which runs nothing and asks for nothing', async () => {
    const headers = { authorization: `Bearer ${server.token}` }
    const answer = await fetch(`${server.url}/v1/sessions/${handle.id}/export?format=html`, { headers })
    const path = join(root, 'export.html')
    await writeFile(path, await answer.text())
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(pathToFileURL(path).href)
      const text = escapeJoiners((await page.locator('body').textContent()) ?? '')
      const plain = strings.filter((one) => !isMarkdown(one))
      expect(plain.length).toBeGreaterThan(strings.length / 2)
      expect(plain.filter((one) => !text.includes(escapeHidden(one)))).toEqual([])
      expect(await page.evaluate(() => [Reflect.get(globalThis, 'hit'), Reflect.get(globalThis, 'XSS')])).toEqual([
        undefined,
        undefined,
      ])
      expect(
        await page.locator('script, iframe, object, embed, base, form, math, [onerror], [onload], [onclick]').count(),
      ).toBe(0)
      expect(asked).toEqual([pathToFileURL(path).href])
    } finally {
      await browser.close()
    }
  })
})

/** Exports keep joiners, which many scripts need. */
const escapeJoiners = (text: string): string => text.replaceAll(/[\u200c\u200d]/g, (char) => escapeHidden(char))

/** The export draws Markdown, so its signs are not part of the text. */
const isMarkdown = (text: string): boolean => /[`*_\\&~|\r\n]|\]\(|^[\s#>-]|^\d+\. |^\[|<\w+:|\s$/.test(text)

/** Everything that a terminal would act on: all controls but line feeds and tabs, and what changes the order of text. */
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

describe('awkward strings in a terminal', () => {
  const environment = () => ({ ...process.env, HOLDFAST_HOME: home, DEMO_PACE: '0' })
  const run = async (...args: readonly string[]) =>
    (await promisify(execFile)(process.execPath, [bin, ...args], { env: environment(), maxBuffer: 2 ** 26 })).stdout
  const squeeze = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

  it.each([
    ['show', ['show', '--limit', '5000']],
    ['export as Markdown', ['export', '--format', 'md']],
  ])('are escaped by %s, and nothing of them is lost', async (_, [command = '', ...flags]) => {
    const text = await run(command, handle.id, ...flags)
    expect(acting.exec(text)).toBeNull()
    const printed = squeeze(escapeJoiners(text))
    expect(strings.filter((one) => !printed.includes(squeeze(escapeHidden(one))))).toEqual([])
  })

  it('are escaped by attach, in the history and live', async () => {
    const child = spawn(process.execPath, [bin, 'attach', handle.id, '--view'], { env: environment() })
    let printed = ''
    const until = (pattern: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => printed.includes(pattern) && resolve()
        for (const stream of [child.stdout, child.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => {
            printed += text
            look()
          })
        child.once('exit', () => reject(new Error(`attach ended: ${printed}`)))
      })
    const following = until('the end of all strings')
    await expect.poll(() => printed).not.toBe('')
    const short = strings.filter((text) => text.length < 3000)
    await createSession(handle).sendPrompt(`say ${short.join('\n')}\nthe end of all strings`)
    await following
    child.kill('SIGTERM')
    expect(acting.exec(printed)).toBeNull()
    expect(short.filter((one) => !squeeze(printed).includes(squeeze(escapeHidden(one))))).toEqual([])
  })
})

type Shown = {
  readonly users: readonly (readonly [id: string, text: string])[]
  readonly assistants: readonly string[]
  /** The elements that only markup of the text could have made. */
  readonly built: readonly string[]
  readonly addresses: readonly string[]
}

/** Runs on the page, once what changed is drawn: returns what the transcript shows, and asks for older messages. */
const lookAtTranscript = `(async () => {
  for (const showAll of document.querySelectorAll('article.user > button.link')) showAll.click() // long prompts are folded
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
  const scroller = document.querySelector('.transcript')
  const all = (what) => [...scroller.querySelectorAll(what)]
  const idOf = (one) => one.closest('[id^="message-"]').id
  const shown = {
    users: all('article.user > p').map((one) => [idOf(one), one.textContent]),
    assistants: all('article.assistant').map(idOf),
    built: all(
      'script, iframe, object, embed, style, link, meta, base, form, svg script, math:not(.formula *), [onerror], [onload], [onclick]',
    ).map((one) => one.outerHTML.slice(0, 300)),
    addresses: all('a[href]').map((one) => one.getAttribute('href') ?? ''),
  }
  document.querySelector('.older:enabled')?.click()
  return shown
})()`
