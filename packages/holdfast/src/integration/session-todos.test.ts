import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHoldfast } from '../open.ts'

let workdir = ''
beforeEach(() => {
  workdir = mkdtempSync(join(tmpdir(), 'holdfast-todos-'))
})
afterEach(() => rmSync(workdir, { recursive: true, force: true }))

const open = () => {
  const environment = { HOLDFAST_HOME: join(workdir, '.home'), DEMO_PACE: '0' }
  return openHoldfast({ store: `sqlite:${join(workdir, 'todos.db')}`, environment })
}

describe('the tasks of the agent', () => {
  it('are those of the newest todo_write, are read back by the model, and survive a restart and plan mode', async () => {
    const first = await open()
    const session = await first.startSession({ workdir, model: 'demo/agent' })
    expect(await session.todos()).toEqual([])
    await session.prompt('todo read; write').text()
    await session.enterPlan()
    await session.prompt('todo done read; doing write; test').text()
    const todos = [
      { id: '1', description: 'read', status: 'done' },
      { id: '2', description: 'write', status: 'in_progress' },
      { id: '3', description: 'test', status: 'pending' },
    ]
    expect(await session.todos()).toEqual(todos)
    expect((await session.snapshot()).view.todos).toEqual(todos)
    expect(await session.prompt('todo').text()).toContain('[x] 1: read\n[>] 2: write\n[ ] 3: test')
    await first.close()

    const second = await open()
    expect(await (await second.getSession(session.id)).todos()).toEqual(todos)
    await second.close()
  })

  it('are described with the tools that the session offers', async () => {
    const holdfast = await open()
    const session = await holdfast.startSession({
      workdir,
      model: 'demo/agent',
      tools: ['todo_write', 'describe_tools'],
    })
    await session.prompt('tools').text()
    const said = (await session.messages()).map((message) => JSON.stringify(message)).join('\n')
    expect(said).toContain('todo_write(tasks): changes nothing')
    expect(said).not.toContain('write_file(')
    await holdfast.close()
  })
})
