import { expect, it } from 'vitest'
import type { Permission } from '../value/settings.ts'
import { coverageText, listCoverageText } from './rule-coverage.ts'

const covers = (verdict: Permission['verdict'], tool: string, pattern?: string) =>
  coverageText({ verdict, tool, ...(pattern !== undefined && { pattern }) })

it('says that a rule about a path does not cover commands, and where it is hidden from them', () => {
  expect(covers('deny', '*', '.env')).toBe(
    'It covers tools that name a path, such as read_file and edit_file. It is about the workdir itself: use **/.env for every folder. It does not cover shell commands: one that names such a path is asked about. In the sandbox it is hidden from commands. Without the sandbox a command that you allow can reach it in other ways.',
  )
  expect(covers('deny', 'read_file', 'secrets/**')).toContain('hidden from commands')
  expect(covers('deny', 'read_file', 'secrets/**')).not.toContain('workdir itself')
  expect(covers('deny', '*', '**/.env')).toContain('one that names such a path is denied or asked about')
  expect(covers('deny', 'read_file', '**/.env')).toContain('one that names such a path is asked about.')
  expect(covers('deny', '*', '*.pem')).not.toContain('hidden')
  expect(covers('deny', 'write_file', 'src/a.ts')).not.toContain('hidden')
  expect(covers('ask', 'read_file', 'notes')).toContain('does not cover shell commands')
  for (const name of ['id_rsa', 'secrets.txt', 'keys'])
    expect(covers('deny', '*', name)).toContain('does not cover shell commands')
  expect(covers('deny', 'shell', '.env')).toContain('words of a command, not a path')
})

it('says nothing of rules that cover what they name', () => {
  expect([
    ...[covers('allow', '*', 'src/**'), covers('deny', 'shell', 'rm *'), covers('deny', '*', 'rm *')],
    ...[covers('deny', 'fetch_url', 'https://*'), covers('deny', 'read_file'), covers('allow', 'shell', 'git status')],
    ...[covers('deny', 'skill', 'release'), covers('deny', 'mcp__files__read', '/etc/**')],
  ]).toEqual(Array(8).fill(null))
})

it('says the same below a list that has such a rule', () => {
  const shell: Permission = { verdict: 'deny', tool: 'shell', pattern: '.env' }
  expect(listCoverageText([shell])).toBeNull()
  expect(listCoverageText([shell, { verdict: 'deny', tool: '*', pattern: '.env' }])).toMatch(
    /^A rule about a path does not cover shell commands: /,
  )
})

it('warns of an unknown tool, with the nearest name; tools of servers may be unknown', () => {
  expect(covers('deny', 'shel', 'rm *')).toBe(
    "Warning: no built-in tool is called shel, so this rule covers nothing unless a program adds that tool. Did you mean 'shell'?",
  )
  expect(covers('allow', 'writefile')).toContain("Did you mean 'write_file'?")
  expect([covers('deny', 'mcp__files__read'), covers('allow', 'network', 'npm ci')]).toEqual([null, null])
})
