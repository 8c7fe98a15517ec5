import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { describe, expect, it } from 'vitest'
import { openTab, usePage } from './page-fixture.ts'

/** The page in a real browser: the questions that wait for a person, here and in all sessions. */
describe('approvals on the page', () => {
  const { now, startSession, say, atRest, transcript } = usePage({
    profile: { viewport: { width: 1280, height: 800 } },
  })
  const box = () => now().page.getByRole('textbox', { name: 'Message' })
  const cards = () => now().page.locator('.approval')
  const list = () => now().page.getByRole('list', { name: 'Waiting for you' })
  /** Waits until the open card can be answered, and gives it the focus. */
  const toCard = async () => {
    await now().page.getByRole('button', { name: 'Approve' }).and(now().page.locator(':enabled')).waitFor()
    await cards().focus()
  }
  const text = (name: string) => readFile(join(now().workdir, name), 'utf8')

  it('asks in call order with one card each, shows what will run once, and answers by keys', async () => {
    const { page, complaints } = now()
    await startSession('write one.txt: first words\nrun echo second\nwrite three.txt: third words')
    await list().getByText('3 of 3').waitFor()
    expect(await list().getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/Make this change\?[\s\S]*1 of 3[\s\S]*first words/),
      expect.stringMatching(/Run this command\?\s+echo second\s+2 of 3/),
      expect.stringMatching(/Make this change\?\s+three\.txt\s+3 of 3/),
    ])
    // The card has the diff; the transcript has a line that leads to it.
    expect(await page.locator('.diff').count()).toBe(1)
    const line = transcript().getByRole('button', { name: /^write_file three\.txt.*needs approval/ })
    await line.click()
    await cards().getByText('third words').waitFor()
    await toCard()
    await page.keyboard.press('n')
    await list().getByText('2 of 2').waitFor()
    await cards().getByText('first words').waitFor() // the first again, and the focus is on it
    await expect.poll(() => cards().evaluate((card) => card.matches(':focus'))).toBe(true)
    await toCard()
    await page.keyboard.press('y')
    await cards().getByText('echo second').first().waitFor()
    await toCard()
    await page.keyboard.press('s')
    await atRest()
    expect(await text('one.txt')).toContain('first words')
    await expect(text('three.txt')).rejects.toThrow()

    // For the session: the same command asks no more.
    await say('run echo second')
    await atRest()
    expect(await cards().count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('leaves the focus to someone who types, and takes Shift+Alt+A and X from anywhere', async () => {
    const { page } = now()
    await startSession('count to 2')
    await atRest()
    await box().pressSequentially('run echo typed')
    await box().press('Enter')
    await expect.poll(() => box().inputValue()).toBe('') // it was sent
    await box().pressSequentially('yes, y and n are letters')
    await toCardShown()
    await box().pressSequentially(' here')
    expect(await box().inputValue()).toBe('yes, y and n are letters here')
    expect(await box().evaluate((area) => area.matches(':focus'))).toBe(true)
    expect(await cards().count()).toBe(1)
    await box().press('Shift+Alt+A')
    await cards().waitFor({ state: 'detached' })
    await atRest()
    await transcript()
      .getByRole('button', { name: /^shell echo typed/ })
      .waitFor()
    await say('run echo not this')
    await toCardShown()
    await page.locator('body').press('Shift+Alt+X')
    await atRest()
    await transcript()
      .getByRole('button', { name: /echo not this.*refused/ })
      .waitFor()
  })
  const toCardShown = () =>
    now().page.getByRole('button', { name: 'Approve' }).and(now().page.locator(':enabled')).waitFor()

  it('says in plain words how far an answer reaches, and which rule asks', async () => {
    const { page, server } = now()
    const holdfast = connectHoldfast(server.url, server.token)
    const rule = await holdfast.addPermission({ tool: 'shell', verdict: 'ask', pattern: 'echo secret' })
    await startSession('run echo secret')
    const card = page.getByRole('region', { name: 'Run this command?' })
    await card.getByText('Why you are asked: your rule `echo secret` asks.').waitFor()
    for (const [scope, words] of [
      ['Once', 'Only this call. The next one asks again.'],
      ['This turn', 'This exact command runs without asking until this turn ends.'],
      ['This session', 'This exact command runs without asking for the rest of this session.'],
      [
        'Always here',
        'This exact command runs without asking in every session of this folder. Stores the rule allow shell echo secret',
      ],
    ] as const) {
      await card.getByRole('radio', { name: scope }).check()
      await card.getByText(words).waitFor()
    }
    await toCard()
    await page.keyboard.press('n')
    await atRest()
    await say('write plain.txt: hello')
    await toCard()
    await page.keyboard.press('n')
    await atRest()
    await holdfast.removePermission(rule.id)
  })

  it('lists the waiting questions of all sessions in one place, and answers them from there', async () => {
    const { page, context, server } = now()
    await startSession('write here.txt: from the first session')
    await toCardShown()
    const other = await server.sessions.start({ workdir: now().workdir, model: 'demo/agent' })
    if (!other.ok) throw new Error(other.fault.message)
    await other.value.submit({
      type: 'sendPrompt',
      content: 'run echo from the other\ndelegate write there.txt: hello',
    })

    const { page: tab, complaints } = await openTab(context)
    await tab.goto(server.url)
    await tab.getByRole('link', { name: /^Waiting for you \d/ }).click()
    const asked = (title: string) => tab.getByRole('region', { name: title, exact: true })
    await asked('write here.txt: from the first session').getByText('from the first session').last().waitFor()
    await asked('run echo from the other').getByText('echo from the other').last().waitFor()
    await asked('write there.txt: hello').getByText('there.txt').last().waitFor()

    // The other tab has the session open and control of it: it gets control back.
    await asked('write here.txt: from the first session').getByRole('button', { name: 'Approve' }).click()
    await asked('write here.txt: from the first session').waitFor({ state: 'detached' })
    await atRest()
    expect(await text('here.txt')).toContain('from the first session')
    expect(await box().isEnabled()).toBe(true)
    expect(await page.getByText('You are watching').count()).toBe(0)
    for (const title of ['run echo from the other', 'write there.txt: hello']) {
      await asked(title).getByRole('button', { name: 'Approve' }).click()
      await asked(title).waitFor({ state: 'detached' })
    }
    await tab.getByText('Nothing waits for you.').waitFor()
    expect(complaints).toEqual([])
  })
})
