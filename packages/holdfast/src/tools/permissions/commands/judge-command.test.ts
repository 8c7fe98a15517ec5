import type { Permission } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { type CommandFacts, judgeCommand } from './judge-command.ts'

const rule = (verdict: Permission['verdict'], pattern: string): Permission => ({ tool: 'shell', pattern, verdict })
const allowed = [
  ...['git status', 'git log **', 'git diff **', 'npm test', 'sed -n **'],
  ...['ls', 'cat', 'find', 'rg', 'echo', 'sort', 'tail', 'head'].map((program) => `${program} **`),
]
const rules = [
  ...allowed.map((pattern) => rule('allow', pattern)),
  ...['rm -r* **', 'git push **', 'curl **'].map((pattern) => rule('deny', pattern)),
]
/** Every program is one of the system, and no word is a link. */
const outside: CommandFacts = { isOutside: async () => true, findLinkedOut: async () => () => false }
const judged = async (text: string, by: readonly Permission[] = rules) =>
  (await judgeCommand(by, text, outside))?.verdict ?? 'ask'

describe('a word that leads outside through a link', () => {
  const linked: CommandFacts = { ...outside, findLinkedOut: async () => (word) => word === 'link' }
  const judge = async (text: string, ...patterns: readonly string[]) =>
    (
      await judgeCommand(
        patterns.map((one) => rule('allow', one)),
        text,
        linked,
      )
    )?.verdict ?? 'ask'

  it('is not covered by a wildcard, and is by a rule that names it', async () => {
    expect(await judge('cat link', 'cat **')).toBe('ask')
    expect(await judge('cat link', 'cat *')).toBe('ask')
    expect(await judge('cd link && cat x', 'cat **')).toBe('ask')
    expect(await judge('cat link', 'cat link')).toBe('allow')
    expect(await judge('cat x', 'cat **')).toBe('allow')
  })
})

describe('the rules of the study', () => {
  it.each([
    'git status',
    'git log -n 5',
    "git log --format='%h %s'",
    'git status && npm test',
    'npm test 2>&1 | tail -n 20',
    'CI=1 npm test',
    'l""s -la',
    'sed -n 1,5p f',
    'sed -n -E -e 1p -e 2p f',
    'sed -n -- 1p f',
    'cd sub && npm test',
    'git status #; rm -rf x',
  ])('allow %j', async (text) => expect(await judged(text)).toBe('allow'))

  it.each([
    'git status -s',
    'git status; rm x',
    'git status\nrm x',
    'git status\r\nnpm test',
    'git log $(id)',
    'git log `id`',
    'cat <(id)',
    'echo x > ~/.bashrc',
    'git diff --output=/etc/x',
    'git -c core.pager=id log',
    'find . -delete',
    'rg --pre=./x y',
    "sed -n '1e id' f",
    'sort -o f f',
    'PAGER=./x git log',
    './git status',
    'ec\\\nho hi',
    `ls\${IFS}-la`,
    "$'\\x6c\\x73'",
    'ls *',
    `${'true;'.repeat(60)} rm x`,
    'cd sub && git status',
    'git status "',
    'git\u00a0status',
    'rm -fr x',
    // Beyond the study: other spellings of the same.
    'git diff --outpu=x',
    'git diff --no-index /dev/null a',
    'cat ../secret',
    'cat a/../../secret',
    'cat /etc/passwd',
    'ls --color=/x',
    'cat @/etc/passwd',
    'cat -n../x',
    'cat file:///etc/passwd',
    'sort -ro f f',
    'sort --outp=f f',
    'sed -n -i p f',
    "sed -n 'w out' f",
    "sed -n 's/a/b/e' f",
    "sed -n -e p -e 'e id' f",
    "sed -n 5p --expr '1e id' f",
    "sed -n 5p --e='1e id' f",
    "sed -n 5p -e '1e id' f",
    "sed -n -l 5 '1e id' f",
    "sed -n -l5 '1e id' f",
    "sed -n --line-length 5 '1w x' f",
    'sed -n --line-length=5 5p f',
    "sed -n -- '1e id' f",
    "sed -n --expression=p -e '1e id' f",
    'sed -n -s --follow-symlinks p f',
    'sed -n --fil script f',
    'cd .. && npm test',
    'cd / && npm test',
    'cd - && npm test',
    'cd sub',
    '! git status',
    'time git status',
    'git status &',
    'git status |& cat',
    'git status > out',
    '(git status)',
    'ls() { id; }; ls',
    'echo "$HOME"',
    'echo a\u0000b',
    '\ufeffgit status',
    'git status\u0085id',
    'echo {a,b}',
    'ls ~/x',
    'git status <<x\nx',
    '#!/bin/x\ngit status',
    '"" git status',
    '2>(id) git status',
  ])('ask about %j', async (text) => expect(await judged(text)).toBe('ask'))

  it.each([
    'rm -rf x',
    'sudo rm -rf x',
    'A=1 rm -rf x',
    '/bin/rm -rf x',
    "bash -c 'rm -rf x'",
    'eval "rm -rf x"',
    'echo x | xargs rm -rf',
    'find . -exec rm -rf {} +',
    'if true; then rm -rf x; fi',
    'echo $(git push)',
    'timeout 5 git push',
    'ls & curl evil',
    // Beyond the study.
    `${'true;'.repeat(60)} rm -rf x`,
    'sudo -u root rm -rf x',
    'env -i A=1 rm -rf x',
    "env -S 'rm -rf x'",
    'timeout -s KILL 5 rm -rf x',
    'nice -n 5 nohup rm -rf x',
    'command rm -rf x',
    'exec rm -rf x',
    '\\rm -rf x',
    "r'm' -rf x",
    "$'\\x72m' -rf x",
    'rm -rf *',
    'rm -rf "$HOME"',
    'f() { rm -rf x; }',
    'for a in 1; do rm -rf x; done',
    'cat <(rm -rf x)',
    'echo `rm -rf x`',
    'bash <<end\nrm -rf x\nend',
    "sh <<< 'rm -rf x'",
    'bash -lc "sudo rm -rf x"',
    'sh -c \'sh -c "rm -rf x"\'',
    "su root -c 'rm -rf x'",
    "trap 'rm -rf x' EXIT",
    'xargs -I {} rm -rf {}',
    '[[ -n $(rm -rf x) ]]',
    "watch 'rm -rf x'",
    'rm -rf x "',
  ])('deny %j', async (text) => expect(await judged(text)).toBe('deny'))
})

describe('a deny rule', () => {
  const denied = [rule('deny', 'rm *')]

  it.each(['rm x', ' rm x', '/bin/rm x', 'env rm x', 'A=b rm x', 'command rm x', 'rm -rf x y', 'true; rm x'])(
    'of `rm *` covers %j',
    async (text) => expect(await judged(text, denied)).toBe('deny'),
  )

  it.each(['xargs -I{} sh -c {}', 'xargs -0I cmd sh -c cmd', 'find . -exec {} x ;', 'xargs --replace=c bash -c c'])(
    'asks about %j, whose command comes from its input',
    async (text) => expect(await judgeCommand(denied, text, outside)).toEqual({ verdict: 'ask', rules: denied }),
  )

  it.each(['. <(echo rm x)', 'source <(echo "rm x")', 'source /dev/stdin <<< "$x"'])(
    'asks about %j, whose commands come from elsewhere',
    async (text) => expect(await judgeCommand(denied, text, outside)).toEqual({ verdict: 'ask', rules: denied }),
  )

  it.each(['$a x', 'a=rm; $a x', 'eval "$x"', 'x | sh', 'git status "', 'bash -c "$x"', 'x'.repeat(70_000)])(
    'asks about %.20j, which may run any command',
    async (text) => {
      const judgement = await judgeCommand(denied, text, outside)
      expect(judgement).toEqual({ verdict: 'ask', rules: denied })
    },
  )

  it.each([
    'prlimit --nproc=1 rm x',
    'setpriv --no-new-privs rm x',
    'runuser -u a -- rm x',
    'git bisect run rm x',
    "git submodule foreach 'rm x'",
    "git rebase -x 'rm x' main",
    "git -c alias.z='!rm x' z",
    'capsh -- -c "rm x"',
    'find . | xargs rm',
    'xargs -0 -n 1 -a list /bin/rm',
    'ls | parallel rm',
    "alias a='rm x'",
    'bash -euo pipefail -c "rm x"',
    'bash -o pipefail -o errexit -c "rm x"',
    'bash +O extglob -oc pipefail "rm x"',
    'bash --rcfile f -c "rm x"',
    'bash -ceuo pipefail "rm x"',
    'fish -C "rm x"',
    'zsh -o extendedglob -c "rm x"',
    'git difftool -x "rm x"',
    'git grep -O"rm x" a',
    'git -c core.pager="rm x" log',
    'git -ccore.sshCommand="rm x" fetch',
    'git filter-branch --tree-filter "rm x"',
    "trap -- 'rm x' EXIT",
    "env --split='rm x'",
    "env --s 'rm x'",
    "flock --comm 'rm x' f",
    "git rebase --exe='rm x' main",
    "git config alias.zz '!rm x' && git zz",
    "git config --global core.editor 'rm x'",
    "GIT_EDITOR='rm x' git commit",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "export GIT_EDITOR='rm x'; git commit",
    "env PAGER='rm x' git log",
    "let 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "printf -v 'a[$(rm x)]' y",
    "read 'a[$(rm x)]'",
    "compgen -W '$(rm x)'",
    "compgen -C 'rm x'",
    "PS4='$(rm x)' bash -x build.sh",
  ])('covers %j', async (text) => expect(await judged(text, denied)).toBe('deny'))

  it.each([
    'git push',
    'git --no-pager push -f',
    'git -p push',
    'git -C . push',
    'git -c x=y --git-dir=.git push',
    'git --work-tree . push',
    '/usr/lib/git-core/git-push x',
    'git-push',
    'git -c alias.p=push p',
  ])('of `git push **` covers %j', async (text) => {
    expect(await judged(text, [rule('deny', 'git push **')])).toBe('deny')
  })

  it.each([
    'constructor rm x',
    'fd a -x rm x',
    'alias a=rm; a x',
    'hash -p /bin/rm z; z x',
    'newrunner --fast rm x',
    "newrunner 'rm x'",
    'uv run rm x',
    "env -S 'rm\\_x'",
    "echo 'rm x' | parallel",
    "echo 'rm x' | parallel -j 4",
    "parallel ::: 'rm x'",
    "ANY='rm x' newtool",
    "[[ -v 'a[$(rm x)]' ]]",
    "(( a['$(rm x)'] ))",
    "let 'a[`echo`]'",
  ])('asks about %j, which may run it', async (text) =>
    expect((await judgeCommand(denied, text, outside))?.verdict).toBe('ask'),
  )

  it.each([
    ['after 8 words', 'newtool 1 2 3 4 5 6 7 8 rm x'],
    ['after 3000 words', `newtool ${'a '.repeat(3000)}/bin/rm x`],
    ['in a quoted text after others', `newtool ${"'a b' ".repeat(1000)}'rm  x' y`],
    ['within a quoted text', "newtool sh -c 'cd a && sudo rm x'"],
  ])('asks about a command that it matches %s of a program that a rule allows', async (_, text) => {
    const all = [...denied, rule('allow', 'newtool **')]
    expect(await judgeCommand(all, text, outside)).toEqual({ verdict: 'ask', rules: denied })
  })

  it('of further words matches them behind a program that is not known', async () => {
    const asked = async (pattern: string, text: string) =>
      (await judgeCommand([rule('deny', pattern)], text, outside))?.verdict
    expect(await asked('git push', "newtool 1 'git push' 2")).toBe('ask')
    expect(await asked('git push **', 'newtool 1 git push 2 3')).toBe('ask')
    expect(await asked('git * -f* x', 'newtool git 1 push -force 2 x')).toBe('ask')
    expect(await asked('git push', 'newtool git push 2')).toBeUndefined()
    expect(await asked('git * -f* x', 'newtool push -f git x')).toBeUndefined()
    expect(await asked('git *push', 'newtool a-git push')).toBeUndefined()
  })

  it('does not ask about words that cannot make a command match', async () => {
    expect(await judgeCommand(denied, 'ls $HOME *.ts', outside)).toBeNull()
    expect(await judgeCommand(denied, 'echo rm x; bash build.sh', outside)).toBeNull()
    expect(
      await judgeCommand(denied, 'A=rm B="a b" make; read a b; [ -v a ]; git config user.name x', outside),
    ).toBeNull()
    expect(await judgeCommand(denied, 'ls | parallel -j 4 cat {}; trap - EXIT; let a=1', outside)).toBeNull()
    expect(
      await judgeCommand(
        denied,
        'ls | xargs; ls | xargs -n 1 grep rm; xargs -I{} echo {}; xargs -P 4 -I f cat f',
        outside,
      ),
    ).toBeNull()
  })

  it('keeps the meaning of `*` in older rules: any text', async () => {
    expect(await judged('git push --force origin', [rule('deny', 'git push --force*')])).toBe('deny')
    expect(await judged('git -q push --force', [rule('deny', 'git * --force')])).toBe('deny')
  })

  it('beats an ask rule, which beats an allow rule, in any order', async () => {
    const all = [rule('allow', 'git **'), rule('ask', 'git push*'), rule('deny', 'git push --force*')]
    for (const order of [all, all.toReversed()]) {
      expect(await judged('git status', order)).toBe('allow')
      expect((await judgeCommand(order, 'git push', outside))?.rules).toEqual([all[1]])
      expect(await judged('git push --force origin', order)).toBe('deny')
    }
  })
})

describe('a hostile text', () => {
  const nested = ['$(', '`', '"$(', '$((', '<(', 'if a; then ', '{ ', "bash -c '", 'eval ', 'find -exec ', 'env -S ']
  it.each([...nested, 'newtool ', "newtool 'a b' ", 'sudo -x ', 'xargs -I x ', 'a|', 'a <<b\n', "'"])(
    'of many %j is judged in bounded work, and asked about',
    async (piece) => {
      for (const chars of [7000, 16_000, 90_000]) expect(await judged(piece.repeat(chars / piece.length))).toBe('ask')
    },
  )
})

describe('an allow rule', () => {
  it('matches quoted characters literally', async () => {
    const quoted = [rule('allow', 'echo \'*\' "a b"')]
    expect(await judged("echo '*' 'a b'", quoted)).toBe('allow')
    expect(await judged("echo 'x' 'a b'", quoted)).toBe('ask')
  })

  it('takes `*` for one word or a part of one', async () => {
    const one = [rule('allow', 'git *'), rule('allow', 'npm run test:*')]
    expect(await judged('git status', one)).toBe('allow')
    expect(await judged('git log -n', one)).toBe('ask')
    expect(await judged('npm run test:unit', one)).toBe('allow')
    expect(await judged('npm run testing', one)).toBe('ask')
  })

  it.each([
    'shuf -o x f',
    'split --filter=./x f',
    'bat --pager=./x f',
    'go vet -vettool=./x',
    'make SHELL=./x',
    'make all',
    'tee .git/config',
    'cp a .git/hooks/pre-commit',
    'cp a sub/.vscode/tasks.json',
    'tool --anything',
    'tool @file',
    'tar xf a',
    'fakeroot a',
    'mksh a',
    'git fetch ext::sh',
    'git mv a .vscode/tasks.json',
    'git bundle create .git/hooks/x HEAD',
    'git clone -u ./x a b',
    'git clone -nu ./x a b',
    'git apply --unsafe-paths a',
    "sqlite3 a '.shell id'",
    'gh alias set x y',
    'curl -o .git/config http://x',
    'rg -z y',
  ])('covers no option, setting or guarded file of a program whose options are not known: %j', async (text) => {
    const programs = [
      'shuf',
      'split',
      'bat',
      'make',
      'tee',
      'cp',
      'tool',
      'tar',
      'fakeroot',
      'mksh',
      'curl',
      'rg',
      'go vet',
      'git fetch',
      'git mv',
      'git bundle',
      'git clone',
      'git apply',
      'sqlite3',
      'gh',
    ]
    const open = programs.map((program) => rule('allow', `${program} **`))
    expect(await judged(text, open)).toBe('ask')
  })

  it('covers plain names of any program, and an option that it names', async () => {
    const open = [rule('allow', 'cp **'), rule('allow', 'eslint --fix **'), rule('allow', 'go vet **')]
    for (const text of ['cp a b/c', 'eslint --fix src/a.ts', 'go vet cmd'])
      expect(await judged(text, open)).toBe('allow')
  })

  it('may name an option that a wildcard may not cover', async () => {
    expect(await judged('sort -o f', [rule('allow', 'sort -o *')])).toBe('allow')
    expect(await judged('cat /etc/hosts', [rule('allow', 'cat /etc/hosts')])).toBe('allow')
  })

  it('that is exact allows this text and no other, whatever it holds', async () => {
    const exact = [{ ...rule('allow', 'echo * > out'), exact: true as const }]
    expect(await judged('echo * > out', exact)).toBe('allow')
    expect(await judged('echo x > out', exact)).toBe('ask')
  })

  it('does not cover a program that the shell finds in the workdir', async () => {
    expect(await judgeCommand(rules, 'git status', { ...outside, isOutside: async () => false })).toBeNull()
  })

  it('names all rules that were needed', async () => {
    const judgement = await judgeCommand(rules, 'git status && npm test', outside)
    expect(judgement?.rules.map(({ pattern }) => pattern)).toEqual(['git status', 'npm test'])
  })
})

describe('a wildcard', () => {
  const all = 'sort wc du file grep diff ls find tree rg fd md5sum strings uniq xxd jq'.split(' ')
  const by = all.map((program) => rule('allow', `${program} **`))

  it.each([
    ...['sort --files0-from=list', 'wc --files0-from=list', 'du --files0-from list', 'file -f list', 'file -bf list'],
    ...['file --files-from=list', 'md5sum -c list', 'md5sum --check list', 'strings @list', 'find -files0-from list'],
  ])('covers no list of names: %s', async (text) => expect(await judged(text, by)).toBe('ask'))

  it.each([
    ...[
      'grep -R x .',
      'grep -nR x',
      'grep --dereference-recursive x',
      'find -L .',
      'find . -follow',
      'ls -LR',
      'du -L',
    ],
    ...['rg -L x', 'rg --follow x', 'fd -L x', 'tree -l', 'diff -r a b', 'diff --recursive a b'],
    `jq -n 'import "link/x" as $x; $x'`,
    ...[
      'jq -f prog.jq list',
      'jq -rf prog.jq list',
      'jq --from-file prog.jq list',
      'jq -L lib . list',
      'jq -Llib . list',
    ],
  ])('covers no option that follows links: %s', async (text) => expect(await judged(text, by)).toBe('ask'))

  it('covers no index of a name, in which the shell runs commands', async () => {
    const read = [rule('allow', 'read **'), rule('allow', 'unset **')]
    expect(await judged("read 'a[$(touch x)]'", read)).toBe('ask')
    expect(await judged("unset 'a[`touch x`]'", read)).toBe('ask')
    expect(await judged('read a b', read)).toBe('allow')
  })

  it.each(['uniq list out', 'uniq - out', 'uniq -- a -b', 'xxd list out'])(
    'covers no second name that a program writes to: %s',
    async (text) => expect(await judged(text, by)).toBe('ask'),
  )

  it.each([
    ...['sort -u list', 'wc -l list', 'du -sh .', 'file list', 'grep -rn x .', 'find . -name x', 'ls -la', 'diff a b'],
    ...['uniq -c list', 'rg x src', 'md5sum list', "jq '.a' list", 'tree -L 2'],
  ])('still covers %s', async (text) => expect(await judged(text, by)).toBe('allow'))
})

describe('the rule `ps **`', () => {
  const all = [rule('allow', 'ps **')]

  it.each([
    'ps',
    'ps aux',
    'ps -ef',
    'ps -e',
    'ps -eo pid,args',
    'ps -p 12,13',
    'ps axjf',
    'ps -ef --forest',
    'ps -u ada',
  ])('allows %j', async (text) => expect(await judged(text, all)).toBe('allow'))

  it.each([
    ...['ps e', 'ps auxe', 'ps axeww', 'ps -auxe', 'ps -ux -E', 'ps -o environ', 'ps -oenviron'],
    ...['ps -u x -e', 'ps -eux', 'ps -ue', 'ps -p 1 e'],
  ])('asks about %j, which may print the variables of other programs', async (text) =>
    expect(await judged(text, all)).not.toBe('allow'),
  )
})

describe('a command of git that sets or runs programs', () => {
  const by = ['git config **', 'git -c **', 'git submodule **', 'git bisect **', 'git rebase **', 'git archive **']
  const allowing = [...by, 'git clone **', 'git help **'].map((pattern) => rule('allow', pattern))

  it.each([
    ...['git config core.fsmonitor x', 'git config --global alias.x y', 'git config set core.pager x', 'git config -e'],
    ...['git config --file=a b.c d', 'git -c core.fsmonitor=x status', 'git submodule foreach id', 'git bisect run id'],
    ...['git submodule update', 'git rebase -x id main', 'git rebase --exec=id main', 'git archive -o x HEAD'],
    ...['git clone --config core.fsmonitor=x y', 'git help -w log'],
  ])('is asked about, whatever a rule of a session allows: %s', async (text) =>
    expect(await judged(text, allowing)).toBe('ask'),
  )

  it.each([
    ...['git config --get user.name', 'git config --list', 'git submodule status', 'git bisect log', 'git rebase main'],
  ])('may read: %s', async (text) => expect(await judged(text, allowing)).toBe('allow'))

  it('may run if the rule names the whole command', async () =>
    expect(await judged('git config user.name me', [rule('allow', 'git config user.name me')])).toBe('allow'))
})

it.each([
  ['coproc', `${'coproc '.repeat(2337)}a`],
  ['functions', `${'f() '.repeat(4000)}a`],
  ['operators', `(( ${'>'.repeat(16_300)}`],
  ['operators with blanks', `(( ${'> '.repeat(8000)}1 ))`],
])('a person is asked about a text with more %s in each other than the parser can read', async (_, text) => {
  const facts = { isOutside: async () => true, findLinkedOut: async () => () => false }
  const judged = await judgeCommand([{ tool: 'shell', pattern: 'rm *', verdict: 'deny' }], text, facts)
  expect(judged).toMatchObject({ verdict: 'ask' })
})
