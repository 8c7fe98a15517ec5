// Sets the theme and density before the first paint. It is a file of its own: the content policy allows no inline script.
try {
  const { theme, density } = JSON.parse(localStorage.getItem('holdfast.appearance') ?? '{}')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  if (density === 'compact') document.documentElement.dataset.density = density
} catch {
  // Without storage, or with a value that is not ours, the system decides.
}
