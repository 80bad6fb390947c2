-- require('vim_mcp').setup{ autostart = false, … } is the same as setting the g:
-- options before the plugin is loaded.
local M = {}

function M.setup(options)
  for name, value in pairs(options or {}) do
    if type(value) == 'boolean' then value = value and 1 or 0 end
    vim.g['vim_mcp_' .. name] = value
  end
  -- Some plugin managers call this only after the plugin was sourced.
  if vim.g.loaded_vim_mcp then vim.fn['vim_mcp#options#Reload']() end
end

return M
