import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { ImportAnswer, orThrow } from '@holdfast/protocol'
import axe from 'axe-core'
import { describe, expect, it } from 'vitest'
import { createLongConversation } from '../../packages/holdfast/src/transfer/import/testing/long-conversation.ts'
import { usePage } from './page-fixture.ts'

/** An answer with markup of every kind. */
const answer = [
  ...['# Lamp', '', 'It blinks[^1], see [the log](https://a.test/log) and ![a plan](https://a.test/plan.png).', ''],
  ...['- [x] bulb', '- [ ] wire', '', '| Part | Cost |', '|:-----|-----:|', '| bulb | 3 |', '', '```ts'],
  ...['const slow = 2 // why', '```', '', 'Euler: $e^{i\\pi} = -1$', '', '[^1]: Since May.'],
].join('\n')

/** A picture of one point. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const axeOf =
  'axe.run(".transcript-frame").then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))'

/** The first row that is wholly in sight, and where it is. */
const topRow = `(() => {
  const box = document.querySelector('.transcript').getBoundingClientRect()
  const row = [...document.querySelectorAll('.row')].find((one) => one.getBoundingClientRect().top >= box.top)
  return { text: row.textContent, top: Math.round(row.getBoundingClientRect().top) }
})()`

/**
 * Scrolls up until so many older pages were loaded. Returns by how much the row that is read moved by itself, in frames
 * that were painted: what is measured in a frame is corrected in the same frame, by observers that run before this one.
 */
const scrollThroughPages = (pages: number): string => `new Promise((resolve) => {
  const box = document.querySelector('.transcript')
  const probe = document.body.appendChild(document.createElement('div'))
  const found = { jumps: [], loads: 0 }
  let [frames, height, read] = [0, box.scrollHeight, null]
  const topOf = (row) => Math.round(row.getBoundingClientRect().top)
  const observer = new ResizeObserver(() => {
    if (read?.row.isConnected && Math.abs(topOf(read.row) - read.top) > 1) found.jumps.push(topOf(read.row) - read.top)
    if (box.scrollHeight > height + 2000) {
      found.loads++
      height = box.scrollHeight
    }
    const edge = box.getBoundingClientRect().top + 100
    const row = [...document.querySelectorAll('.row')].find((one) => one.getBoundingClientRect().top >= edge)
    read = row && frames > 4 ? { row, top: topOf(row) } : null // first it follows the end
    if (found.loads < ${pages} && frames < 1000) return
    observer.disconnect()
    probe.remove()
    resolve(found)
  })
  observer.observe(probe)
  const next = () => {
    if (!probe.isConnected) return
    probe.style.width = (frames++ % 2) + 'px'
    const isLoading = document.querySelector('.older-slot').textContent.includes('Loading')
    if (frames % 4 === 0 && !isLoading) {
      box.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }))
      box.scrollTop -= 300
      read = null
    }
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})`

/**
 * Looks at every painted frame from before a turn until it is over. Returns the texts that the answer had, and what was
 * shown besides it.
 */
const watchTurn = `(() => {
  const probe = document.body.appendChild(document.createElement('div'))
  const log = document.querySelector('[role="log"]')
  const seen = { lengths: [], thinkingBesideText: 0, thinkingInHeader: 0, spoken: [], offEnd: 0, redrawn: 0 }
  window.seenOfTurn = seen
  let [frames, first] = [0, null]
  const textOf = (kind) => [...log.querySelectorAll(kind)].map((one) => one.textContent).join('')
  new ResizeObserver(() => {
    const text = textOf('.assistant')
    if (text.length > 0) seen.lengths.push(text.length)
    if (textOf('.streaming') !== '' && textOf('.thinking-word.working') !== '') seen.thinkingBesideText++
    if (document.querySelector('.session-status').textContent.includes('Thinking')) seen.thinkingInHeader++
    const spoken = document.querySelector('[role="status"][aria-label="What happens"]').textContent
    if (spoken !== '' && seen.spoken.at(-1) !== spoken) seen.spoken.push(spoken)
    const box = document.querySelector('.transcript')
    if (box.scrollHeight - box.scrollTop - box.clientHeight > 2) seen.offEnd++
    const paragraph = log.querySelector('.streaming > p, .streaming > h3')
    if (first !== null && paragraph !== null && paragraph !== first) seen.redrawn++
    first = paragraph ?? first
  }).observe(probe)
  const next = () => {
    probe.style.width = (frames++ % 2) + 'px'
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
})()`

type SeenOfTurn = {
  readonly lengths: readonly number[]
  readonly spoken: readonly string[]
  readonly thinkingBesideText: number
  readonly thinkingInHeader: number
  readonly offEnd: number
  readonly redrawn: number
}

// Fast, but not at once: an answer takes some frames.
const { now, startSession, say, atRest, transcript, approve } = usePage({ env: { DEMO_PACE: '0.1' } })

async function look(device: 'desk' | 'phone' | 'wide'): Promise<void> {
  const sizes = { desk: [1280, 800], phone: [390, 844], wide: [1600, 900] } as const
  const [width, height] = sizes[device]
  await now().page.setViewportSize({ width, height })
  await now().page.emulateMedia({ colorScheme: device === 'phone' ? 'dark' : 'light' })
}

/** Takes a picture if `PAGE_SHOTS` names a folder. */
async function shoot(name: string): Promise<void> {
  const shots = process.env['PAGE_SHOTS']
  if (shots !== undefined) await now().page.screenshot({ path: join(shots, `${name}.png`) })
}

/** Imports a conversation, and opens it. */
async function open(file: string): Promise<void> {
  const { page, server } = now()
  const headers = { authorization: `Bearer ${server.token}` }
  const imported = await fetch(`${server.url}/v1/import?name=a.jsonl`, { method: 'POST', headers, body: file })
  const { files } = ImportAnswer.parse(await imported.json())
  await page.goto(`${server.url}/#/s/${files[0]?.session ?? ''}`)
  await transcript().waitFor()
}

describe.each(['desk', 'phone'] as const)('the transcript at %s width', (device) => {
  it('draws markdown with colours and formulas, breaks no content policy, and is accessible', async () => {
    const { page, complaints } = now()
    await look(device)
    await open(createLongConversation(2, `md-${device}`).replace('"r1"', JSON.stringify(answer)))
    await transcript().locator('.code-keyword', { hasText: 'const' }).waitFor()
    await transcript().locator('math').first().waitFor()
    expect(await transcript().getByRole('checkbox', { name: 'Done', exact: true }).isChecked()).toBe(true)
    expect(await transcript().locator('img').count()).toBe(0)
    await transcript().getByRole('button', { name: 'Footnote 1' }).click()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Since May.')
    expect(await transcript().getAttribute('aria-live')).toBe('off')
    await page.evaluate(axe.source)
    expect(await page.evaluate(axeOf)).toEqual([])
    await shoot(`markdown-${device}`)
    expect(complaints).toEqual([])
  })

  it('shows what each tool did in its own way, and the diff after its approval', async () => {
    const { page, complaints, workdir } = now()
    await look(device === 'desk' ? 'wide' : 'phone')
    const lines = Array.from({ length: 12 }, (_, index) => `export const lamp${index} = ${index}`)
    await writeFile(join(workdir, 'lamp.ts'), `${lines.join('\n')}\n`)
    await writeFile(join(workdir, 'logo.png'), Buffer.from(dot, 'base64'))
    await startSession('read lamp.ts\nsearch lamp1\nread logo.png')
    await atRest()
    const file = transcript().getByRole('figure', { name: 'Content of lamp.ts' })
    await file.locator('.code-keyword', { hasText: 'export' }).first().waitFor()
    expect(await file.locator('.line-numbers').textContent()).toBe(lines.map((_, index) => index + 1).join('\n'))
    expect(await transcript().locator('.found').textContent()).toContain('3 matches')
    expect(await transcript().locator('.picture img').getAttribute('alt')).toBe('logo.png')
    await say('edit lamp.ts: lamp7 = 7 => lamp7 = 77\nrun echo lit')
    await approve()
    await approve()
    await atRest()
    const diff = transcript().getByRole('figure', { name: 'Diff of lamp.ts' })
    const [removed, added] = await Promise.all(
      ['.diff-removed', '.diff-added'].map((kind) => diff.locator(kind).boundingBox()),
    )
    // Side by side where there is room, else one below the other.
    if (device === 'desk') expect([added?.y, (added?.x ?? 0) > (removed?.x ?? 0)]).toEqual([removed?.y, true])
    else expect((added?.y ?? 0) > (removed?.y ?? 0)).toBe(true)
    expect(await transcript().locator('.command-line').textContent()).toBe('echo lit')
    await page.evaluate(axe.source)
    expect(await page.evaluate(axeOf)).toEqual([])
    await shoot(`tools-${device}`)
    expect(complaints).toEqual([])
  })
})

describe.each(['light', 'dark'] as const)('a diagram in %s', (colorScheme) => {
  it('is drawn when a person asks for it, or always by a setting, and a wrong one says why', async () => {
    const { page, server, complaints } = now()
    await page.emulateMedia({ colorScheme })
    const right =
      '```mermaid\nflowchart LR\n  A[Lamp <script>] --> B{On?}\n  B -->|yes| C[Light]\n  B -->|no| D[Dark]\n```'
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname))
    const said = `Look:\n\n${right}\n\n\`\`\`mermaid\nflowchart nonsense -->\n\`\`\``
    await open(createLongConversation(1, `diagram-${colorScheme}`).replace('"r0"', () => JSON.stringify(said)))
    const shown = transcript().getByRole('button', { name: 'Show diagram' })
    await shown.first().waitFor()
    expect(loaded).not.toContain('/diagram.html')
    await shown.nth(1).click()
    await transcript().getByText('The diagram cannot be drawn:').waitFor()
    await shown.first().click()
    const picture = transcript().getByRole('img', { name: /^Diagram/ })
    const width = () => page.evaluate<number>('document.querySelector(".diagram-box img").naturalWidth')
    await picture.waitFor()
    await expect.poll(width).toBeGreaterThan(200)
    await shoot(`diagram-${colorScheme}`)
    await page.evaluate(axe.source)
    expect(await page.evaluate(axeOf)).toEqual([])
    await transcript().getByRole('button', { name: 'Show source' }).click()
    await transcript().getByText('flowchart LR').waitFor()
    const address = page.url()
    await page.goto(`${server.url}/#/settings`)
    await page.getByRole('switch', { name: 'Draw diagrams in answers' }).click()
    await page.goto(address)
    await picture.waitFor()
    expect(complaints).toEqual([])
  })
})

it('formats an answer of 400,000 letters', async () => {
  const { page, complaints } = now()
  const part = (number: number) =>
    `## Part ${number}\n\nSome **strong** words.\n\n- one\n- two\n\n${'word '.repeat(60)}\n\n`
  const long = Array.from({ length: 1100 }, (_, index) => part(index)).join('')
  await open(createLongConversation(1, 'letters').replace('"r0"', () => JSON.stringify(long)))
  for (const number of [1099, 0, 550])
    await transcript()
      .getByRole('heading', { name: `Part ${number}`, exact: true })
      .waitFor()
  await expect.poll(() => page.locator('.undrawn').count()).toBe(0)
  expect(await transcript().getByRole('heading', { name: /^Part/ }).count()).toBe(1100)
  expect(complaints).toEqual([])
})

it('draws few rows of a long session, loads older ones without a jump, and returns to the place', async () => {
  const { page, complaints, server } = now()
  await look('desk')
  await open(createLongConversation(1000, 'long'))
  const address = page.url()
  await transcript().getByText('r999', { exact: true }).waitFor()
  expect(await transcript().locator('.row').count()).toBeLessThan(80)
  expect(await page.evaluate(scrollThroughPages(3))).toEqual({ jumps: [], loads: 3 })
  const before = await page.evaluate(topRow)
  await page.goto(`${server.url}/#/`)
  await transcript().waitFor({ state: 'detached' })
  await page.goto(address)
  await expect.poll(() => page.evaluate(topRow)).toEqual(before)
  await page.getByRole('button', { name: 'Previous turn' }).click()
  await expect.poll(() => page.evaluate(topRow)).not.toEqual(before)
  // By keys, from the palette and, where there is no room for buttons, from the menu.
  const moves = async (move: () => Promise<void>) => {
    const place = await page.evaluate(topRow)
    await move()
    await expect.poll(() => page.evaluate(topRow)).not.toEqual(place)
  }
  await moves(() => page.keyboard.press('Alt+ArrowUp'))
  await moves(() => page.keyboard.press('Alt+ArrowDown'))
  await moves(async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search everything' }).waitFor()
    await page.keyboard.type('turn before')
    await page.getByRole('option', { name: /^Go to the turn before/ }).waitFor()
    await page.keyboard.press('Enter')
  })
  await look('phone')
  await page.getByRole('button', { name: 'Previous turn' }).waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Session actions' }).click()
  for (const name of ['Previous turn', 'Next turn'])
    await moves(async () => {
      await page.getByRole('button', { name: 'More' }).click()
      await shoot('turns')
      await page.getByRole('menuitem', { name }).click()
    })
  await look('desk')
  await page.getByRole('button', { name: 'Latest' }).click()
  await transcript().getByText('r999', { exact: true }).waitFor()
  expect(complaints).toEqual([])
})

it('copies and edits a prompt, tries again, and keeps the old answer as a branch', async () => {
  const { page, complaints, context } = now()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await look('desk')
  await startSession('count to 3')
  await transcript().getByText('1, 2, 3.', { exact: true }).waitFor()
  await atRest()
  await transcript().getByRole('button', { name: 'Copy answer' }).click()
  await transcript().getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('1, 2, 3.')
  await transcript().getByRole('button', { name: 'Edit prompt' }).click()
  await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('count to 4')
  await page.getByRole('button', { name: 'Send again' }).click()
  await transcript().getByText('1, 2, 3, 4.', { exact: true }).waitFor()
  expect(await transcript().getByText('1, 2, 3.', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  await transcript().getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: '2 branches' }).waitFor()
  await transcript().getByText('1, 2, 3, 4.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

it('streams without flicker, follows the end, says what is finished, and calls nothing thinking that is not', async () => {
  const { page, complaints } = now()
  await look('desk')
  await startSession('hello')
  await atRest()
  await page.evaluate(watchTurn)
  await say('what can you do?')
  await atRest()
  const seen = await page.evaluate<SeenOfTurn>('window.seenOfTurn')
  const shrunk = seen.lengths.filter((length, index) => length < (seen.lengths[index - 1] ?? 0))
  expect(new Set(seen.lengths).size).toBeGreaterThan(1) // it did stream; a busy machine draws few frames
  expect({ ...seen, lengths: shrunk, spoken: [] }).toEqual({
    lengths: [],
    thinkingBesideText: 0,
    thinkingInHeader: 0,
    spoken: [],
    offEnd: 0,
    redrawn: 0,
  })
  // Whole paragraphs, collected for a while: the last one is said at the end.
  const words = (text: string | null | undefined) => text?.replaceAll(/\s+/g, '') ?? ''
  const ending = words(await transcript().locator('.assistant').last().textContent()).slice(-20)
  const spoken = () => page.evaluate<readonly string[]>('window.seenOfTurn.spoken')
  await expect.poll(async () => words((await spoken()).join(''))).toContain(ending)
  expect(complaints).toEqual([])
})

it('keeps following the end when a short transcript becomes long at once', { retry: 0 }, async () => {
  const { page, server } = now()
  await look('desk')
  await startSession('count to 2')
  await atRest()
  await page.reload() // the list guesses where the end is, and the text fits: it cannot scroll there yet
  await transcript().locator('.assistant').waitFor()
  const handle = orThrow(await server.sessions.open(page.url().split('/s/').at(-1) ?? ''))
  orThrow(await handle.submit({ type: 'sendPrompt', content: 'a line\n'.repeat(80) }))
  await expect.poll(() => transcript().getByRole('article', { name: 'You' }).count()).toBe(2)
  await atRest()
  const { top, below } = await page.evaluate<{ readonly top: number; readonly below: number }>(`(() => {
    const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.transcript')
    return { top: scrollTop, below: Math.round(scrollHeight - clientHeight - scrollTop) }
  })()`)
  expect(top).toBeGreaterThan(0)
  expect(below).toBeLessThan(2)
  expect(await page.getByRole('button', { name: 'Latest' }).count()).toBe(0)
})

it('stays at what the search of the browser found, although the page is drawn again', async () => {
  const { page, server, complaints } = now()
  await look('phone')
  await startSession('count to 320')
  await atRest()
  const top = () => page.evaluate<number>("document.querySelector('.transcript').scrollTop")
  expect(await top()).toBeGreaterThan(0)
  await page.evaluate(`document.querySelector('[role="log"] article').scrollIntoView()`) // a search scrolls without a gesture
  await page.getByRole('button', { name: 'Latest' }).waitFor()
  const found = await top()
  const handle = orThrow(await server.sessions.open(page.url().split('/s/').at(-1) ?? ''))
  orThrow(await handle.submit({ type: 'rename', title: 'drawn again' }))
  await page.getByRole('heading', { name: 'drawn again' }).waitFor()
  expect(await top()).toBe(found)
  await page.getByRole('button', { name: 'Latest' }).click()
  await page.getByRole('button', { name: 'Latest' }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

it('keeps an open menu in sight while the answer grows, and follows the end again when it is closed', async () => {
  const { page, complaints } = now()
  await look('phone')
  await startSession('count to 1000')
  await transcript().getByText(/\b5\b/).first().waitFor()
  await transcript().getByRole('button', { name: 'Branch, fork or rewind' }).click()
  const menu = page.getByRole('menu', { name: 'This turn' })
  await menu.waitFor()
  const scrolled = () =>
    page.evaluate<{ top: number; below: number }>(`(() => {
      const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.transcript')
      return { top: scrollTop, below: scrollHeight - clientHeight - scrollTop }
    })()`)
  const { top } = await scrolled()
  await expect.poll(async () => (await scrolled()).below).toBeGreaterThan(200)
  expect((await menu.boundingBox())?.y).toBeGreaterThan(0)
  await page.keyboard.press('Escape')
  await expect.poll(async () => (await scrolled()).below).toBeLessThan(48)
  expect((await scrolled()).top).toBeGreaterThan(top)
  expect(complaints).toEqual([])
})

it('says how a stopped answer ended, without a false zero', async () => {
  const { page, complaints } = now()
  await look('phone')
  await startSession('count to 500')
  await transcript().getByText(/\b5\b/).first().waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await transcript().getByText('Stopped. Everything so far is saved.').waitFor()
  expect(await transcript().locator('.usage').textContent()).not.toMatch(/\b0 (in|out)/)
  await page.evaluate(axe.source)
  expect(await page.evaluate(axeOf)).toEqual([])
  await shoot('stopped-phone')
  expect(complaints).toEqual([])
})

it('says in the middle that a session has no messages, and shows the pictures of a prompt', async () => {
  const { page, complaints, server, workdir } = now()
  await look('desk')
  const holdfast = connectHoldfast(server.url, server.token)
  const session = await holdfast.startSession({ workdir })
  await page.goto(`${server.url}/#/s/${session.id}`)
  const empty = await transcript().getByText('No messages yet').boundingBox()
  const box = await page.locator('.transcript').boundingBox()
  const middle = ((empty?.y ?? 0) + (empty?.height ?? 0) / 2 - (box?.y ?? 0)) / (box?.height ?? 1)
  expect(middle).toBeGreaterThan(0.3)
  expect(middle).toBeLessThan(0.6)
  await shoot('empty-desk')
  const { file } = await holdfast.storeFile(Buffer.from(dot, 'base64'), { name: 'plan.png' })
  await session.sendPrompt([{ type: 'text', text: 'see my plan' }, file])
  await transcript().getByRole('article', { name: 'You' }).getByRole('img', { name: 'plan.png' }).waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

describe('a model that takes its time', () => {
  const slow = usePage({ env: { DEMO_PACE: '6' } })

  it('keeps the settings below the input in one row while a turn runs', async () => {
    const { page } = slow.now()
    for (const width of [1280, 900]) {
      await page.setViewportSize({ width, height: 800 })
      await slow.startSession('count to 40')
      await page.getByRole('button', { name: 'Follow up' }).waitFor()
      const box = await page.locator('.composer-foot > .chips').boundingBox()
      expect(box?.height).toBeLessThan(50)
      await page.getByRole('button', { name: 'Stop', exact: true }).click()
      await slow.atRest()
    }
  })

  it('is shown thinking while it thinks, and its thought folds; each message has its time', async () => {
    const { page } = slow.now()
    await slow.startSession('count to 2')
    const thinking = slow.transcript().getByRole('button', { name: /^Thinking/ })
    await thinking.waitFor()
    expect(await thinking.getAttribute('aria-expanded')).toBe('true')
    await slow.answer(2).waitFor()
    await slow.atRest()
    const thought = slow.transcript().getByRole('button', { name: /^Thought/ })
    await thinking.waitFor({ state: 'detached' })
    expect(await thought.getAttribute('aria-expanded')).toBe('false')
    const text = slow.transcript().locator('.thinking-text')
    expect(await text.count()).toBe(0)
    await thought.click()
    await text.getByText('The request has one line').waitFor()
    const times = slow.transcript().locator('time')
    expect(await times.last().textContent()).toMatch(/^\d{2}:\d{2}$/)
    await slow.transcript().getByRole('article', { name: 'You' }).hover()
    for (const time of await times.all()) expect(Date.parse((await time.getAttribute('datetime')) ?? '')).not.toBeNaN()
    expect(await times.count()).toBeGreaterThan(1)
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0)
  })
})
