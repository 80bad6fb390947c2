-- :checkhealth vim_mcp (from Neovim 0.6 on); :VimMCPDoctor shows the same.
local M = {}

function M.check()
  local health = vim.health or require('health')
  local start = health.start or health.report_start
  local say = {
    ok = health.ok or health.report_ok,
    warning = health.warn or health.report_warn,
    error = health.error or health.report_error,
  }
  start('vim-mcp')
  for _, found in ipairs(vim.fn['vim_mcp#doctor#Report']()) do
    if found.remedy == '' then
      say[found.level](found.what)
    else
      say[found.level](found.what, { found.remedy })
    end
  end
end

return M
