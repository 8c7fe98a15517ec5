import { expect, it } from 'vitest'
import { createHolderChoice } from './choose-holder.ts'

function openBrowser() {
  const seen: string[] = []
  let pass: () => void = () => undefined
  const choice = createHolderChoice({
    after(_ms, work) {
      pass = work
      return () => {
        pass = () => undefined
      }
    },
  })
  const openWindow = (name: string, answers = true) => {
    const candidate = {
      choose: () => void seen.push(name),
      ping: () => answers && queueMicrotask(() => choice.answer(candidate)),
    }
    choice.answer(candidate)
    return { close: () => choice.leave(candidate), wake: () => choice.answer(candidate) }
  }
  /** Lets the windows answer, and the time of silence pass. */
  const wait = async () => {
    await Promise.resolve()
    pass()
  }
  return { seen, openWindow, wait }
}

it('chooses the first window, and the next one when it is closed', () => {
  const { seen, openWindow } = openBrowser()
  const first = openWindow('first')
  const second = openWindow('second')
  openWindow('third')
  expect(seen).toEqual(['first'])
  second.close()
  first.close()
  expect(seen).toEqual(['first', 'third'])
})

it('keeps a window that answers', async () => {
  const { seen, openWindow, wait } = openBrowser()
  openWindow('first')
  openWindow('second')
  for (let times = 0; times < 3; times++) await wait()
  expect(seen).toEqual(['first'])
})

it('chooses another one if the holder is silent, and takes the holder back as the last', async () => {
  const { seen, openWindow, wait } = openBrowser()
  const crashed = openWindow('frozen', false)
  const second = openWindow('second')
  await wait()
  expect(seen).toEqual(['frozen', 'second'])
  crashed.wake()
  second.close()
  expect(seen).toEqual(['frozen', 'second', 'frozen'])
})

it('chooses the next window that comes, if none was left', () => {
  const { seen, openWindow } = openBrowser()
  openWindow('first').close()
  openWindow('second')
  expect(seen).toEqual(['first', 'second'])
})
