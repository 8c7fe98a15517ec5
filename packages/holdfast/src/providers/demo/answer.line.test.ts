import { describe, expect, it } from 'vitest'
import { demoFailures, readDemoLine } from './answer.ts'

describe('a line to the demo', () => {
  it.each([
    ['list', 'list_directory', { path: '.' }],
    ['List src', 'list_directory', { path: 'src' }],
    ['list the files here', 'list_directory', { path: '.' }],
    ['list files in src/deep.', 'list_directory', { path: 'src/deep' }],
    ['list ..', 'list_directory', { path: '..' }],
    ['What is in this folder?', 'list_directory', { path: '.' }],
    ['READ a b.txt', 'read_file', { path: 'a b.txt' }],
    ['read "a.txt"', 'read_file', { path: 'a.txt' }],
    ['search TODO: later', 'grep', { pattern: 'TODO: later', literal: true }],
    ['find **/*.ts', 'find', { pattern: '**/*.ts' }],
    ['write a.txt: hello: world', 'write_file', { path: 'a.txt', content: 'hello: world' }],
    ['write empty.txt:', 'write_file', { path: 'empty.txt', content: '' }],
    [
      'edit a.txt: old words => new => words',
      'edit_file',
      { path: 'a.txt', old_text: 'old words', new_text: 'new => words' },
    ],
    ['edit a.txt: gone =>', 'edit_file', { path: 'a.txt', old_text: 'gone', new_text: '' }],
    [
      'edits a.txt: one => two; three =>; x => y => z',
      'multi_edit_file',
      {
        path: 'a.txt',
        edits: [
          { old_text: 'one', new_text: 'two' },
          { old_text: 'three', new_text: '' },
          { old_text: 'x', new_text: 'y => z' },
        ],
      },
    ],
    ['delete the file "a b.txt"', 'delete_file', { path: 'a b.txt' }],
    ['move a.txt => src/b.txt', 'move_file', { path: 'a.txt', new_path: 'src/b.txt' }],
    ['output sh-1', 'shell_output', { id: 'sh-1' }],
    ['stop sh-1', 'shell_stop', { id: 'sh-1' }],
    ['run in the background npm start', 'shell', { command: 'npm start', background: true }],
    ['run echo "a: b" => c', 'shell', { command: 'echo "a: b" => c' }],
    ['remember that we use: tabs => here', 'memory_write', { text: 'we use: tabs => here' }],
    ['patch a.txt: old line => new line', 'apply_diff', { path: 'a.txt', diff: '@@\n-old line\n+new line\n' }],
    ['todo', 'todo_read', {}],
    ['tools', 'describe_tools', {}],
    [
      'todo done read it; doing write it; test it',
      'todo_write',
      {
        tasks: [
          { description: 'read it', status: 'done' },
          { description: 'write it', status: 'in_progress' },
          { description: 'test it', status: 'pending' },
        ],
      },
    ],
    ['fetch https://example.org/a', 'fetch_url', { url: 'https://example.org/a' }],
    ['git status', 'git_status', {}],
    ['git diff', 'git_diff', {}],
    ['git diff src/a.ts', 'git_diff', { path: 'src/a.ts' }],
    ['Git log', 'git_log', {}],
    ['git stage a.txt', 'git_stage', { paths: ['a.txt'] }],
    ['git commit Fix: the thing', 'git_commit', { message: 'Fix: the thing' }],
    ['delegate list src', 'subagent', { task: 'list src' }],
    ['delegate in background list src', 'subagent', { task: 'list src', background: true }],
  ])('%s asks for %s', (line, tool, args) => {
    expect(readDemoLine(line)).toMatchObject({ type: 'call', tool, args })
  })

  it('parses counts up to a maximum', () => {
    expect(readDemoLine('Count to 12')).toEqual({ type: 'count', to: 12 })
    expect(readDemoLine('count to 999999999')).toEqual({ type: 'count', to: 10_000 })
  })

  it('parses every failure, and no other', () => {
    expect(demoFailures.map((how) => readDemoLine(`FAIL ${how}`))).toEqual(
      demoFailures.map((how) => ({ type: 'fail', how })),
    )
    expect(readDemoLine('fail gracefully')).toEqual({ type: 'unknown', text: 'fail gracefully' })
  })

  it.each(['hello', 'read', 'write a.txt', 'edit a.txt: x', 'runner up', 'listen', 'remember'])(
    'does not understand %s',
    (text) => {
      expect(readDemoLine(text)).toEqual({ type: 'unknown', text })
    },
  )
})
