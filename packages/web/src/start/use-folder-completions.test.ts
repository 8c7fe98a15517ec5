import { ok, type SlashCommand } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { completionsOf } from './use-folder-completions.ts'

/** A server that tells what it was asked. */
function server() {
  const asked: string[] = []
  // Only the fields that are read.
  const commands = [
    { name: 'compact', source: 'built-in' },
    { name: 'tidy', source: 'skill' },
  ] as SlashCommand[]
  return {
    asked,
    completeFolder: async () => ({ paths: [{ path: '/here/', type: 'folder' as const }], isCut: false }),
    completeInFolder: async (workdir: string, text: string) => {
      asked.push(`${workdir} ${text}`)
      return { paths: [], isCut: false }
    },
    commands: async (workdir: string) => {
      asked.push(workdir)
      return commands
    },
  }
}

it('asks for the folder that was chosen, else for that of the server', async () => {
  const one = server()
  await completionsOf(one, '/work').paths('no')
  await completionsOf(one, '').paths('no')
  await completionsOf(one, '').commands()
  expect(one.asked).toEqual(['/work no', '/here/ no', '/here/'])
})

it('leaves out the commands of a session that has begun', async () => {
  expect(await completionsOf(server(), '/work').commands()).toEqual(ok([{ name: 'tidy', source: 'skill' }]))
})
