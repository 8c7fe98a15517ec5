import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { usePage } from './page-fixture.ts'

/** Takes a picture if `PAGE_SHOTS` names a folder. */
const picture = async (page: Page, name: string) => {
  const shots = process.env['PAGE_SHOTS']
  if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}.png`) })
}

describe('the history of a session on the page', () => {
  const { now, count, startSession, say, atRest, transcript, answer, prompts, turnMenu, openMore, approve } = usePage()
  let page: Page
  let workdir: string
  let complaints: readonly string[]
  beforeEach(() => {
    ;({ page, workdir, complaints } = now())
  })

  it('draws branches as a tree, and switches between them', async () => {
    await count(2, 3, 4)
    await (await turnMenu(0)).getByRole('menuitem', { name: 'Branch from here' }).click()
    await answer(3).waitFor({ state: 'detached' })
    expect(await prompts()).toEqual(['count to 2'])
    await say('count to 5')
    await answer(5).waitFor()
    await atRest()

    const opener = page.getByRole('button', { name: '1 branch', exact: true })
    await opener.click()
    const tree = page.getByRole('dialog', { name: 'Branches' })
    await tree.getByText('After “count to 2”').waitFor()
    await tree
      .getByRole('button', { name: /^count to 4 branch-1 · 3 turns · saved just now begins with: count to 3$/ })
      .click()
    await answer(4).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3', 'count to 4'])

    await tree.waitFor({ state: 'detached' })
    await opener.press('Enter') // and back, by keyboard alone
    await tree.getByText('branch-1').and(tree.locator('[aria-current] *')).waitFor()
    await tree.getByRole('button', { name: /^count to 5 branch-2 · / }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await answer(5).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 5'])
    await page.reload()
    await answer(5).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 5'])
    expect(complaints).toEqual([])
  })

  it('pages between the versions of an edited prompt, by mouse and by keys', async () => {
    await count(2, 3)
    await transcript().getByRole('article', { name: 'You' }).first().hover()
    await transcript().getByRole('button', { name: 'Edit prompt' }).first().click()
    await page.getByRole('textbox', { name: 'Prompt' }).fill('count to 4')
    await page.getByRole('button', { name: 'Send again' }).click()
    await answer(4).waitFor()
    await atRest()
    const pager = (number: number) => transcript().getByRole('group', { name: `Version ${number} of 2` })
    const before = { name: 'Previous version of this prompt' }
    const after = { name: 'Next version of this prompt' }
    await pager(2).getByRole('button', before).click()
    await answer(3).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3'])
    // The focus is on the pager of the version that came, on the way that is left.
    const focused = () => page.evaluate<string>('document.activeElement.ariaLabel')
    await expect.poll(focused).toBe(after.name)
    expect(await pager(1).getByRole('button', before).isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    await answer(4).waitFor()
    await expect.poll(focused).toBe(before.name)
    expect(await prompts()).toEqual(['count to 4'])
    await page.reload()
    await pager(2).waitFor()
    await picture(page, 'versions')

    // A search finds the version that is on a branch, and its hit leads there.
    await page.getByRole('searchbox', { name: 'Search sessions' }).fill('count to 3')
    const hit = page.getByRole('list', { name: 'Sessions' }).locator('a[href*="?message="]').first()
    await hit.click()
    const offer = page.getByText(/^This message is on the branch branch-\d+\.$/)
    await offer.waitFor()
    await picture(page, 'on-a-branch')
    expect(await prompts()).toEqual(['count to 4'])
    // The offer ends when a person does something else, and a click on the same hit makes it again.
    await page.getByRole('textbox', { name: 'Message' }).click()
    await offer.waitFor({ state: 'detached' })
    await hit.click()
    await offer.waitFor()
    await page.getByRole('button', { name: 'Switch', exact: true }).click()
    await answer(3).waitFor()
    await offer.waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate<string>('document.activeElement.innerText')).toContain('count to 3')
    expect(complaints).toEqual([])
  })

  const rewind = () => page.getByRole('dialog', { name: 'Rewind to before this prompt' })

  it('shows all changes of the session as one diff, and previews a rewind that puts files back', async () => {
    await startSession('write one.txt: first')
    await approve()
    await atRest()
    await say('edit one.txt: first => second\nwrite two.txt: other')
    await approve()
    await page.getByText('two.txt').last().waitFor()
    await approve()
    await atRest()

    const panel = page.getByRole('complementary', { name: 'Tasks, files and rules' })
    await page.getByRole('button', { name: /^Files and tasks/ }).click()
    await panel.getByRole('button', { name: 'All changes' }).click()
    const changes = page.getByRole('dialog', { name: 'Changes of this session' })
    await changes.getByText('2 files +2 −0').waitFor()
    expect(await changes.getByRole('figure').count()).toBe(2)
    await changes.getByRole('list', { name: 'Files' }).getByRole('button', { name: 'two.txt' }).click()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await changes.getByRole('button', { name: 'Copy as patch' }).click()
    await changes.getByText('The patch is in the clipboard.').waitFor()
    const patch = await page.evaluate('navigator.clipboard.readText()')
    expect(patch).toMatch(/one\.txt[\s\S]*\+second[\s\S]*two\.txt[\s\S]*\+other/)
    await page.keyboard.press('Escape')
    await changes.waitFor({ state: 'detached' })

    await (await turnMenu(1)).getByRole('menuitem', { name: 'Rewind to here' }).click()
    await rewind().getByText('1 prompt with').waitFor()
    await rewind().getByText('edit one.txt: first => second').waitFor()
    await rewind().getByRole('figure', { name: 'Diff of one.txt' }).getByText('becomes what it was').waitFor()
    await rewind().getByRole('figure', { name: 'Diff of two.txt' }).getByText('is deleted').waitFor()
    await rewind().getByRole('checkbox', { name: 'Put 2 files back too' }).check()
    await rewind().getByRole('button', { name: 'Rewind and put files back' }).click()
    await rewind().waitFor({ state: 'detached' })
    expect(await readFile(join(workdir, 'one.txt'), 'utf8')).toContain('first')
    await expect(readFile(join(workdir, 'two.txt'), 'utf8')).rejects.toThrow()
    await expect.poll(prompts).toEqual(['write one.txt: first'])
    await page.getByRole('button', { name: '1 branch' }).waitFor()
  })

  it('rewinds to before a prompt, even the first, and puts its text into the input', async () => {
    await count(2, 3)
    const box = page.getByRole('textbox', { name: 'Message', exact: true })
    await box.fill('and more')
    await (await turnMenu(1)).getByRole('menuitem', { name: 'Rewind to here' }).click()
    await rewind().getByText('No file has changed since.').waitFor()
    await rewind().getByRole('button', { name: 'Rewind', exact: true }).click()
    await answer(3).waitFor({ state: 'detached' })
    await expect.poll(() => box.inputValue()).toBe('count to 3\n\nand more')
    await box.fill('')
    await (await turnMenu(0)).getByRole('menuitem', { name: 'Rewind to here' }).click()
    await rewind().getByRole('button', { name: 'Rewind', exact: true }).click()
    await transcript().getByText('No messages yet.').waitFor()
    await expect.poll(() => box.inputValue()).toBe('count to 2')
    await page.getByRole('button', { name: '2 branches' }).click()
    await page
      .getByRole('dialog', { name: 'Branches' })
      .getByRole('button', { name: /branch-1 · 2 turns/ })
      .click()
    await answer(3).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3'])
    expect(complaints).toEqual([])
  })

  it('disables history changes during a turn, and says why', async () => {
    await count(2)
    await say('write held.txt: it waits')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const menu = await turnMenu(0)
    const branch = menu.getByRole('menuitem', { name: 'Branch from here' })
    expect(await branch.isDisabled()).toBe(true)
    expect(await branch.getAttribute('title')).toBe('A turn is running. Stop it or wait until it ends.')
    expect(await menu.getByRole('menuitem', { name: 'Rewind to here' }).isDisabled()).toBe(true)
    expect(await menu.getByRole('menuitem', { name: 'Fork from here' }).isEnabled()).toBe(true) // that turn has ended
    await page.keyboard.press('Escape') // closes the menu, and stops nothing
    await (await turnMenu(0)).getByRole('menuitem', { name: 'Changes of this turn' }).click()
    const changes = page.getByRole('dialog', { name: 'Changes of this turn' })
    await changes.getByText('No changes of files are known.').waitFor()
    await page.keyboard.press('Escape') // closes the dialog, and stops nothing
    await changes.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
    const more = await openMore()
    expect(await more.getByRole('menuitem', { name: /^Compact/ }).isDisabled()).toBe(true)
  })

  it('forks at a turn, opens the fork with its history, and links the two', async () => {
    await count(2, 3, 4)
    const origin = page.url()
    await (await turnMenu(1)).getByRole('menuitem', { name: 'Fork from here' }).click()
    await page.waitForURL((url) => url.href !== origin)
    await answer(3).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3'])
    await say('count to 6')
    await answer(6).waitFor()
    const row = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').filter({ hasText: '(fork)' })
    await row.getByText('fork of count to 2').waitFor()

    await page.getByRole('main').getByRole('link', { name: 'count to 2' }).click()
    await answer(4).waitFor()
    expect(await prompts()).toEqual(['count to 2', 'count to 3', 'count to 4'])
    await (await openMore()).getByRole('menuitem', { name: '(fork)' }).click()
    await answer(6).waitFor()
    expect(complaints).toEqual([])
  })

  it('pins a message, keeps the pin after a reload, and links to it', async () => {
    await count(2, 3)
    await say('list')
    await transcript()
      .getByRole('button', { name: /^list_directory/ })
      .waitFor()
    await atRest()
    const pins = transcript().getByRole('button', { name: 'Pin', exact: true })
    await pins.first().click()
    const strip = page.getByRole('navigation', { name: 'Pinned messages' })
    await strip.getByRole('button', { name: 'count to 2' }).waitFor()
    await page.reload()
    await strip.getByRole('button', { name: 'count to 2' }).click()
    const pinned = transcript().getByRole('article', { name: 'You' }).first()
    await expect.poll(() => pinned.evaluate((element) => element.getBoundingClientRect().top > 0)).toBe(true)
    expect(await pins.first().getAttribute('aria-pressed')).toBe('true')
    await pins.first().click()
    await strip.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  it('collapses one or all tool calls, also after a reload', async () => {
    await startSession('list')
    const card = transcript().getByRole('button', { name: /^list_directory/ })
    await card.waitFor()
    await atRest()
    expect(await card.getAttribute('aria-expanded')).toBe('true')
    await card.click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('false')
    await page.reload()
    await card.waitFor()
    expect(await card.getAttribute('aria-expanded')).toBe('false')
    await (await openMore()).getByRole('menuitem', { name: 'Expand all calls' }).click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('true')
    await (await openMore()).getByRole('menuitem', { name: 'Collapse all calls' }).click()
    await expect.poll(() => card.getAttribute('aria-expanded')).toBe('false')
  })

  it('compacts, shows the checkpoint, and undoes it; the gauge follows', async () => {
    await startSession('count to 300')
    await atRest()
    const gauge = page.getByRole('meter', { name: 'Context' })
    async function tokens(): Promise<number> {
      await page.getByRole('button', { name: /^Context \d+ % full/ }).click()
      const value = Number(await gauge.getAttribute('value'))
      await page.keyboard.press('Escape')
      await gauge.waitFor({ state: 'detached' })
      return value
    }
    const more = await openMore()
    await more.getByRole('menuitem', { name: /^Compact/ }).click()
    await page.getByRole('alert').getByText('There is nothing to summarise yet').waitFor()

    const early = await tokens()
    for (const to of [2, 3, 4]) {
      await say(`count to ${to}`)
      await answer(to).waitFor()
      await atRest()
    }
    const before = await tokens()
    expect(before).toBeGreaterThan(early)
    await (await openMore()).getByRole('menuitem', { name: /^Compact/ }).click()
    const divider = transcript().getByRole('region', { name: 'Checkpoint' })
    await divider.getByText('The model gets a summary of the messages above').waitFor()
    const after = await tokens()
    expect(after).toBeLessThan(before)
    await divider.getByRole('button', { name: 'Summary' }).click()
    await divider.getByText('This summary is by the demo').waitFor()

    await page.reload()
    await divider.getByRole('button', { name: 'Undo' }).click()
    await divider.getByText('the model gets the messages above').waitFor()
    expect(await divider.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    expect(await tokens()).toBe(before)
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([])
  })

  it('writes a summary to a file, and names the file', async () => {
    await count(2)
    const more = await openMore()
    await more.getByRole('menuitem', { name: /^Summarize/ }).click()
    const said = await page.getByText('The summary was saved to').first().textContent()
    const path = said?.replace('The summary was saved to ', '').slice(0, -1) ?? ''
    expect(path).toMatch(/^\.holdfast\/context\/.+\.md$/)
    expect(await readFile(join(workdir, path), 'utf8')).not.toBe('')
    expect(complaints).toEqual([])
  })
})
